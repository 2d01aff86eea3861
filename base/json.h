// JSON: nlohmann's, and the few helpers that Kubernetes objects need. The only file that includes the library.
#pragma once

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace capi {

using Json = nlohmann::json;  // objects sort their keys, as Go's encoder does
using JsonPath = std::initializer_list<std::string_view>;

// kInvalidArgument with the byte position on bad input, invalid UTF-8, or nesting deeper than 1,000.
Result<Json> ParseJson(std::string_view text);

// Compact. Never throws: invalid UTF-8 is replaced.
std::string ToJsonText(const Json& value);

// The member at `path` through objects, or null when a step is missing or no object.
const Json* Find(const Json& value, JsonPath path);
Json* Find(Json& value, JsonPath path);

// The same with a default where the member is missing or of another type.
std::string GetString(const Json& value, JsonPath path, std::string_view fallback = "");
bool GetBool(const Json& value, JsonPath path, bool fallback = false);
std::int64_t GetInt(const Json& value, JsonPath path, std::int64_t fallback = 0);

// The member at `path`, made (with objects on the way, replacing what is no object) where missing.
Json& Ensure(Json& value, JsonPath path);

}  // namespace capi
