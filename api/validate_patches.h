// The part of Validate that reads spec.patches and spec.manifestPatches.
#pragma once

#include <vector>

#include "api/validate.h"

namespace capi::api {

void CheckPatches(const ProviderSpec& spec, std::vector<FieldError>& out);

}  // namespace capi::api
