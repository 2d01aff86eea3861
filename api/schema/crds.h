// The CustomResourceDefinitions of the seven kinds.
#pragma once

#include "api/kinds.h"
#include "base/json.h"

namespace capi::api {

Json CustomResourceDefinition(const ProviderKind& kind);

}  // namespace capi::api
