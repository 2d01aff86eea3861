#include "base/json_memory.h"

namespace capi {

size_t MemoryOf(const Json& value) {
  size_t bytes = kJsonValueSize;
  if (value.is_string()) return bytes + value.get_ref<const std::string&>().size();
  if (value.is_object()) {
    for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
      bytes += kJsonValueSize + key.size() + MemoryOf(member);
    }
  } else if (value.is_array()) {
    for (const Json& item : value) bytes += MemoryOf(item);
  }
  return bytes;
}

}  // namespace capi
