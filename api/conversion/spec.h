// A provider's spec in the words of the other version. Pure and thread-safe.
//
// `kept` is what the object's annotation says of how the spec was written in the version that is wanted: a part of such
// a spec, in which containers are by name. It decides between forms that mean the same, field by field and argument by
// argument; what somebody has changed since keeps its form with the new value.
#pragma once

#include "base/json.h"
#include "base/result.h"

namespace capi::api {

// kInvalidArgument, with the field's path, for what v1alpha2 has no place for.
Result<Json> SpecToNew(Json spec, const Json& kept);

// Never fails.
Result<Json> SpecToOld(Json spec, const Json& kept);

// Without the arguments of managers and containers.
Json SpecWithoutArguments(Json spec);

}  // namespace capi::api
