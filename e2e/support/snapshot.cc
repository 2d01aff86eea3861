#include "e2e/support/snapshot.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace capi::e2e {
namespace {

constexpr std::string_view kOperatorGroup = "operator.cluster.x-k8s.io";

bool Listable(const kube::Resource& resource) {
  return std::find(resource.verbs.begin(), resource.verbs.end(), "list") != resource.verbs.end();
}

// Removes `keys` from every object of the tree.
void EraseEverywhere(Json& json, const std::set<std::string>& keys) {
  if (json.is_array()) {
    for (Json& item : json) EraseEverywhere(item, keys);
  }
  if (!json.is_object()) return;
  for (const auto& key : keys) json.erase(key);
  for (auto& [key, value] : json.items()) EraseEverywhere(value, keys);
}

// Who owns which fields is part of the state; when, and in which order it came about, isn't.
void NormaliseManagedFields(Json& metadata) {
  Json* fields = Find(metadata, {"managedFields"});
  if (fields == nullptr || !fields->is_array()) return;
  Json ours = Json::array();
  for (Json& entry : *fields) {
    entry.erase("time");
    if (GetString(entry, {"manager"}).starts_with("capi-operator")) ours.push_back(entry);
  }
  std::sort(ours.begin(), ours.end());
  *fields = ours;
}

// StorageMigrated is absent or True where nothing is left to migrate: which of the two depends on what was seen on the
// way. What is known of newer versions is found out beside all else (U12).
void ForgetWhatIsDone(Json& json) {
  EraseEverywhere(json, {"updateCheck", "availableUpgrades", "f:updateCheck", "f:availableUpgrades",
                         R"(k:{"type":"UpgradeAvailable"})"});
  Json* conditions = Find(json, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return;
  Json left = Json::array();
  bool migrated = false;
  for (const Json& condition : *conditions) {
    const std::string type = GetString(condition, {"type"});
    const bool done = type == "StorageMigrated" && GetString(condition, {"status"}) == "True";
    migrated = migrated || done;
    if (!done && type != "UpgradeAvailable") left.push_back(condition);
  }
  *conditions = std::move(left);
  if (migrated) EraseEverywhere(json, {R"(k:{"type":"StorageMigrated"})"});
}

// What exactly wasn't ready when a change was given up is a matter of the moment.
void NormaliseProvider(Json& json) {
  EraseEverywhere(json, {"lastTransitionTime", "observedGeneration", "applied", "startedAt", "finishedAt",
                         "installedAt", "time", "started", "finished", "since", "inputs"});
  if (Json* history = Find(json, {"status", "history"})) {
    for (Json& entry : *history) entry.erase("message");
  }
  ForgetWhatIsDone(json);
  Json* conditions = Find(json, {"status", "conditions"});
  if (conditions == nullptr) return;
  for (Json& condition : *conditions) {
    std::string message = GetString(condition, {"message"});
    size_t why = message.find(" runs again: ");
    if (why != message.npos) condition["message"] = message.substr(0, why);
  }
}

std::string Normalised(kube::Object object) {
  Json& json = object.json();
  if (Json* metadata = Find(json, {"metadata"})) {
    NormaliseManagedFields(*metadata);
    for (const char* key : {"uid", "resourceVersion", "creationTimestamp", "generation"}) metadata->erase(key);
    if (Json* annotations = Find(*metadata, {"annotations"}); annotations != nullptr && annotations->is_object()) {
      annotations->erase("deployment.kubernetes.io/revision");
      annotations->erase("kubectl.kubernetes.io/last-applied-configuration");
      annotations->erase("test/poke");
    }
  }
  bool provider = object.group_version().group == kOperatorGroup;
  if (!provider && object.kind() != "CustomResourceDefinition") json.erase("status");
  if (object.kind() == "CustomResourceDefinition") {
    Json stored = Find(json, {"status", "storedVersions"}) ? *Find(json, {"status", "storedVersions"}) : Json();
    json["status"] = {{"storedVersions", stored}};
  }
  if (provider) NormaliseProvider(json);
  if (object.kind() == "Service") EraseEverywhere(json, {"clusterIP", "clusterIPs"});
  EraseEverywhere(json, {"ownerReferences"});  // of a stored release: they carry the owner's uid
  return json.dump();
}

}  // namespace

Result<Snapshot> TakeSnapshot(kube::Client& client, const Context& ctx, const Scope& scope) {
  Snapshot snapshot;
  std::set<kube::GroupKind> done;
  for (const auto& resource : TRY(client.mapper().All(ctx))) {
    kube::GroupKind kind{resource.group, resource.kind};
    if (!Listable(resource) || !scope.kinds(resource) || !done.insert(kind).second) continue;
    auto list = client.List(ctx, resource, "", {.metadata_only = true});
    // A kind whose CRD has just gone.
    if (!list.ok() && list.code() == Code::kNotFound) continue;
    if (!list.ok()) return list.error().With(kind.ToString());
    for (const auto& item : list->items) {
      kube::ObjectId id{resource.group, resource.kind, item.ns(), item.name()};
      if (!scope.objects(id)) continue;
      auto object = client.Get(ctx, resource, id.ns, id.name);
      if (!object.ok() && object.code() == Code::kNotFound) continue;
      if (!object.ok()) return object.error().With(id.ToString());
      snapshot[id.ToString()] = Normalised(std::move(object).value());
    }
  }
  return snapshot;
}

std::string Difference(const Snapshot& expected, const Snapshot& seen) {
  std::string text;
  for (const auto& [id, value] : expected) {
    auto it = seen.find(id);
    if (it == seen.end()) {
      text += fmt::format("missing: {}\n", id);
    } else if (it->second != value) {
      Json before = Json::parse(value);
      Json diff = Json::diff(before, Json::parse(it->second));
      for (Json& change : diff) {
        Json::json_pointer path(change["path"].get<std::string>());
        if (change["op"] == "replace") change["expected"] = before[path];
      }
      text += fmt::format("other: {}: {}\n", id, diff.dump().substr(0, 2000));
    }
  }
  for (const auto& [id, value] : seen) {
    if (!expected.contains(id)) text += fmt::format("left over: {}\n", id);
  }
  return text;
}

}  // namespace capi::e2e
