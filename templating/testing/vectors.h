// What makes objects comparable with those of the vectors (base/testing/vectors.h).
#pragma once

#include "base/json.h"

namespace capi::templating {

// `value` without nulls, empty objects and empty lists, at any depth: Go's typed structures add them.
Json WithoutEmpty(Json value);

// `want` without members that `got` lacks and that are zero ("", 0, false) in it: the reference sends some kinds
// through Go's typed structures, which write them out. Both went through WithoutEmpty.
Json WithoutZeroes(Json want, const Json& got);

}  // namespace capi::templating
