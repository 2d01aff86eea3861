// Arguments of a container as v1alpha1 may write them.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace capi::api {

// Texts for all values, and two dashes before each name that has none, except before those that a v1alpha2 object has
// had without (`kept`). kInvalidArgument with `path` for a value that is no text, whole number or boolean, and where
// two names would be one, with different values.
Status ArgumentsToNew(Json& args, const Json& kept, const std::string& path);

// Names as a v1alpha1 object has had them (`kept`), and its values where they still mean the same.
void ArgumentsToOld(Json& args, const Json& kept);

}  // namespace capi::api
