// RFC 6902 patches.
#pragma once

#include "base/json.h"
#include "base/result.h"

namespace capi::templating {

// All operations, or none: on kInvalidArgument (an unknown operation, a missing path, a failed test) `target` is as it
// was.
Status JsonPatch(Json& target, const Json& operations);

// The same for one of several targets: `copied` is what their copies took so far, for all of which there is one bound.
Status JsonPatch(Json& target, const Json& operations, size_t& copied);

}  // namespace capi::templating
