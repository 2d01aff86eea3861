#include "kube/meta/managers.h"

#include <algorithm>

namespace capi::kube {
namespace {

const Json& EntriesOf(const Object& object) {
  static const Json none = Json::array();
  const Json* entries = Find(object.json(), {"metadata", "managedFields"});
  return entries != nullptr && entries->is_array() ? *entries : none;
}

}  // namespace

bool HasManager(const Object& object, std::string_view manager, std::string_view operation) {
  const Json& entries = EntriesOf(object);
  return std::any_of(entries.begin(), entries.end(), [&](const Json& entry) {
    return GetString(entry, {"manager"}) == manager &&
           (operation.empty() || GetString(entry, {"operation"}) == operation);
  });
}

bool HasManagerAlone(const Object& object, std::string_view manager) {
  const Json& entries = EntriesOf(object);
  return !entries.empty() && std::all_of(entries.begin(), entries.end(),
                                         [&](const Json& entry) { return GetString(entry, {"manager"}) == manager; });
}

}  // namespace capi::kube
