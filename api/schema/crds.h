// The CustomResourceDefinitions of the seven kinds.
#pragma once

#include "api/kinds.h"
#include "base/json.h"

namespace capi::api {

// Where manifests/ installs the operator, and the Service in front of its webhooks.
inline constexpr std::string_view kOperatorNamespace = "capi-operator-system";
inline constexpr std::string_view kWebhookService = "capi-operator-webhook-service";

// Whether there is a v1alpha1 of this kind: the first four.
bool HasOldVersion(ProviderType type);

// What `kubectl get` shows of a provider, in order: additionalPrinterColumns.
Json PrinterColumns();

Json CustomResourceDefinition(const ProviderKind& kind);

}  // namespace capi::api
