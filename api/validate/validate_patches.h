// The part of Validate that reads spec.patches and spec.manifestPatches.
#pragma once

#include <string_view>
#include <vector>

#include "api/validate/validate.h"
#include "base/json.h"
#include "base/result.h"

namespace capi::api {

// What all patches of a spec may hold, in memory, about: aliases make gigabytes of a few bytes.
inline constexpr size_t kMaxPatchMemory = 8u << 20;

// The YAML of one patch, in these bounds; null for empty text.
Result<Json> ParsePatch(std::string_view text);

void CheckPatches(const ProviderSpec& spec, std::vector<FieldError>& out);

}  // namespace capi::api
