#include "kube/apply/foreign_fields.h"

#include <algorithm>

namespace capi::kube {
namespace {

// `fields` is a node of fieldsV1: members "f:NAME", list items "k:{KEYS}" and "v:VALUE", "." for the node itself.
void CopyOwned(const Json& fields, const Json& live, Json& desired);

bool IsLeaf(const Json& fields) { return !fields.is_object() || fields.empty(); }

Json EmptyLike(const Json& value) { return value.is_array() ? Json::array() : Json::object(); }

void CopyMember(const std::string& name, const Json& fields, const Json& live, Json& desired) {
  if (!live.is_object() || !desired.is_object() || !live.contains(name)) return;
  const Json& from = live[name];
  bool had = desired.contains(name);
  if (IsLeaf(fields)) {
    if (!had) desired[name] = from;
    return;
  }
  if (!from.is_structured()) return;
  Json part = had ? desired[name] : EmptyLike(from);
  CopyOwned(fields, from, part);
  if (had || !part.empty() || fields.contains(".")) desired[name] = std::move(part);
}

bool HasKeys(const Json& item, const Json& keys) {
  return item.is_object() && std::all_of(keys.items().begin(), keys.items().end(), [&](const auto& key) {
           auto member = item.find(key.key());
           return member != item.end() && *member == key.value();
         });
}

void CopyItem(const Json& keys, const Json& fields, const Json& live, Json& desired) {
  auto matches = [&](const Json& item) { return HasKeys(item, keys); };
  auto from = std::find_if(live.begin(), live.end(), matches);
  if (from == live.end()) return;
  auto to = std::find_if(desired.begin(), desired.end(), matches);
  if (to != desired.end()) return CopyOwned(fields, *from, *to);
  if (!fields.contains(".")) return;  // the item itself was somebody else's
  Json item = keys;
  CopyOwned(fields, *from, item);
  desired.push_back(std::move(item));
}

void CopyOwned(const Json& fields, const Json& live, Json& desired) {
  if (!fields.is_object()) return;
  for (const auto& [step, below] : fields.items()) {
    std::string rest = step.substr(std::min<size_t>(2, step.size()));
    if (step.rfind("f:", 0) == 0) CopyMember(rest, below, live, desired);
    if (!live.is_array() || !desired.is_array()) continue;
    auto value = ParseJson(rest);
    if (!value.ok()) continue;
    if (step.rfind("k:", 0) == 0 && value->is_object()) CopyItem(*value, below, live, desired);
    bool missing = std::find(desired.begin(), desired.end(), *value) == desired.end();
    if (step.rfind("v:", 0) == 0 && missing) desired.push_back(*value);
  }
}

void CopyBundle(const Json* from, Json* to) {
  if (from == nullptr || to == nullptr || !from->is_object() || !to->is_object()) return;
  if (from->contains("caBundle") && !to->contains("caBundle")) (*to)["caBundle"] = (*from)["caBundle"];
}

void KeepCaBundles(const Json& live, Json& desired) {
  CopyBundle(Find(live, {"spec", "conversion", "webhook", "clientConfig"}),
             Find(desired, {"spec", "conversion", "webhook", "clientConfig"}));
  if (GetString(live, {"kind"}) == "APIService") CopyBundle(Find(live, {"spec"}), Find(desired, {"spec"}));
  const Json* from = Find(live, {"webhooks"});
  Json* to = Find(desired, {"webhooks"});
  if (from == nullptr || to == nullptr || !from->is_array() || !to->is_array()) return;
  for (Json& webhook : *to) {
    for (const Json& other : *from) {
      if (GetString(other, {"name"}) != GetString(webhook, {"name"})) continue;
      CopyBundle(Find(other, {"clientConfig"}), Find(webhook, {"clientConfig"}));
    }
  }
}

}  // namespace

void KeepForeignFields(const Object& live, std::string_view manager, ForeignFields which, Object& desired) {
  const Json* entries = Find(live.json(), {"metadata", "managedFields"});
  if (entries != nullptr && entries->is_array()) {
    for (const Json& entry : *entries) {
      if (GetString(entry, {"manager"}) == manager || !GetString(entry, {"subresource"}).empty()) continue;
      const Json* fields = Find(entry, {"fieldsV1"});
      if (fields == nullptr) continue;
      Json metadata = Json::object();
      if (const Json* part = Find(*fields, {"f:metadata"})) metadata["f:metadata"] = *part;
      CopyOwned(which == ForeignFields::kAll ? *fields : metadata, live.json(), desired.json());
    }
  }
  if (which == ForeignFields::kMetadata) KeepCaBundles(live.json(), desired.json());
}

}  // namespace capi::kube
