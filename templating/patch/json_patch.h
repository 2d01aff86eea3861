// RFC 6902 patches.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "templating/patch/budget.h"

namespace capi::templating {

// kInvalidArgument, naming the operation, for an unknown one, a missing path, a failed test, and for what is beyond
// `budget`; `target` is then undefined: a copy of each object to go back to would cost more than the patch.
Status JsonPatch(Json& target, const Json& operations, PatchBudget& budget);

}  // namespace capi::templating
