#include "base/json_memory.h"

namespace capi {

size_t MemoryOf(const Json& value) {
  constexpr size_t kValue = 80;  // beside its text; a member of an object is two
  size_t bytes = kValue;
  if (value.is_string()) return bytes + value.get_ref<const std::string&>().size();
  if (value.is_object()) {
    for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
      bytes += kValue + key.size() + MemoryOf(member);
    }
  } else if (value.is_array()) {
    for (const Json& item : value) bytes += MemoryOf(item);
  }
  return bytes;
}

}  // namespace capi
