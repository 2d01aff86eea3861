// Members of JSON objects that may be missing, or no objects.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"

namespace capi::api {

// The member of an object, where it is there.
inline Json* Member(Json& object, std::string_view name) { return Find(object, {name}); }

// The same to be read; null where there is none.
inline const Json& Part(const Json& object, std::string_view name) {
  static const Json kNone;
  const Json* found = Find(object, {name});
  return found == nullptr ? kNone : *found;
}

// Takes a member out of an object; null where there is none.
inline Json Take(Json& object, std::string_view name) {
  Json* member = Member(object, name);
  if (member == nullptr) return nullptr;
  Json out = std::move(*member);
  object.erase(std::string(name));
  return out;
}

}  // namespace capi::api
