// Where a provider's variables are, unless spec.configSecret names another Secret. Pure.
#pragma once

#include <string>

#include "api/kinds.h"

namespace capi::api {

// "infrastructure-aws-variables", in the provider's namespace: by the same name the operator keeps what it recovers
// (behaviour.md A2), and clusterctl what it is given.
inline std::string VariablesSecretName(const ProviderId& id) { return ManifestLabel(id.type, id.name) + "-variables"; }

}  // namespace capi::api
