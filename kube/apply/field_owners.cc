#include "kube/apply/field_owners.h"

namespace capi::kube {
namespace {

// The union of two trees of fieldsV1.
void Unite(Json& into, const Json& from) {
  if (!into.is_object()) into = Json::object();
  if (!from.is_object()) return;
  for (const auto& [step, below] : from.items()) Unite(into[step], below);
}

bool IsOfMainResource(const Json& entry) { return GetString(entry, {"subresource"}).empty(); }

bool IsOurApply(const Json& entry, std::string_view manager) {
  return GetString(entry, {"manager"}) == manager && GetString(entry, {"operation"}) == "Apply" &&
         GetString(entry, {"subresource"}).empty();
}

// The owners that stay; null when none has to go.
std::optional<Json> OtherOwners(const Object& live, std::string_view group) {
  const Json* owners = Find(live.json(), {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return std::nullopt;
  Json stay = Json::array();
  for (const Json& owner : *owners) {
    if (GroupVersion::Parse(GetString(owner, {"apiVersion"})).group != group) stay.push_back(owner);
  }
  if (stay.size() == owners->size()) return std::nullopt;
  return stay.empty() ? Json() : stay;
}

}  // namespace

IsFormer WroteLabel(std::string_view label, std::string_view applier) {
  return [step = "f:" + std::string(label), applier = std::string(applier)](const Json& entry) {
    bool applied = GetString(entry, {"operation"}) == "Apply";
    if (applied && (applier.empty() || GetString(entry, {"manager"}) != applier)) return false;
    const Json* labels = Find(entry, {"fieldsV1", "f:metadata", "f:labels"});
    return labels != nullptr && labels->is_object() && labels->contains(step);
  };
}

std::optional<Json> MoveFieldOwners(const Object& live, std::string_view manager, const IsFormer& former) {
  const Json* entries = Find(live.json(), {"metadata", "managedFields"});
  if (entries == nullptr || !entries->is_array()) return std::nullopt;
  Json stay = Json::array(), ours;
  bool moved = false;
  for (const Json& entry : *entries) {
    if (IsOurApply(entry, manager)) {
      Json fields = ours.is_null() ? Json::object() : ours["fieldsV1"];
      ours = entry;
      Unite(ours["fieldsV1"], fields);
    } else if (IsOfMainResource(entry) && former(entry)) {
      moved = true;
      if (ours.is_null()) {
        ours = entry;
        ours["manager"] = manager;
        ours["operation"] = "Apply";
      } else if (const Json* fields = Find(entry, {"fieldsV1"})) {
        Unite(ours["fieldsV1"], *fields);
      }
    } else {
      stay.push_back(entry);
    }
  }
  if (!moved) return std::nullopt;
  stay.push_back(std::move(ours));
  return stay;
}

std::optional<Json> TakeOverPatch(const Object& live, std::string_view manager, const IsFormer& former,
                                  std::string_view owner_group) {
  auto fields = MoveFieldOwners(live, manager, former);
  auto owners = OtherOwners(live, owner_group);
  if (!fields && !owners) return std::nullopt;
  Json metadata = {{"uid", live.uid()}, {"resourceVersion", live.resource_version()}};
  if (fields) metadata["managedFields"] = std::move(*fields);
  if (owners) metadata["ownerReferences"] = std::move(*owners);
  return Json{{"metadata", std::move(metadata)}};
}

}  // namespace capi::kube
