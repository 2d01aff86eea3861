#include "base/encoding.h"
#include "kube/apply/apply.h"

namespace capi::kube {

std::string FieldsHash(const Object& live, std::string_view manager) {
  const Json* entries = Find(live.json(), {"metadata", "managedFields"});
  if (entries == nullptr || !entries->is_array()) return "";
  for (const Json& entry : *entries) {
    if (GetString(entry, {"manager"}) != manager || GetString(entry, {"operation"}) != "Apply") continue;
    if (!GetString(entry, {"subresource"}).empty()) continue;
    const Json* fields = Find(entry, {"fieldsV1"});
    if (fields != nullptr) return Sha256Hex(ToJsonText(*fields)).substr(0, 16);
  }
  return "";
}

}  // namespace capi::kube
