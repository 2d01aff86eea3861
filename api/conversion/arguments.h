// Arguments of a container as v1alpha1 may write them.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace capi::api {

// Texts for all values, and two dashes before each name that has none. kInvalidArgument with `path` for a value that is
// no text, whole number or boolean, and where two names would be one.
Status ArgumentsToNew(Json& args, const std::string& path);

}  // namespace capi::api
