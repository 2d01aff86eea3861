// The configurations of the admission webhooks for the seven kinds (manifests/base/webhooks.yaml).
#pragma once

#include <string>

#include "api/kinds.h"
#include "base/json.h"

namespace capi::api {

inline constexpr std::string_view kMutatingConfiguration = "capi-operator-mutating-webhook-configuration";
inline constexpr std::string_view kValidatingConfiguration = "capi-operator-validating-webhook-configuration";

// "/mutate-operator-cluster-x-k8s-io-v1alpha2-coreprovider": where the operator serves it.
std::string MutatingPath(const ProviderKind& kind);
std::string ValidatingPath(const ProviderKind& kind);

// Without CA bundles: the operator that serves the webhooks, or cert-manager, writes them in.
Json MutatingWebhookConfiguration();
Json ValidatingWebhookConfiguration();

}  // namespace capi::api
