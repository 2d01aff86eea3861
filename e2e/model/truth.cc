// Whether the world is as the model says: nothing lost, the golden rule kept, conditions true, objects as declared.
#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "e2e/model/release.h"
#include "e2e/model/world.h"
#include "kube/apply/inventory.h"

namespace capi::e2e::model {
namespace {

// kstatus and F1: what is False says why, and what isn't Ready is either at work or stuck.
std::string UntrueWords(const Seen& seen) {
  for (const auto& condition : seen.provider.status.conditions) {
    if (condition.message.empty()) return condition.type + " has no message";
  }
  bool ready = seen.Status("Ready") == "True", stalled = seen.Status("Stalled") == "True";
  bool reconciling = seen.Status("Reconciling") == "True";
  if (ready && (stalled || reconciling)) return "Ready, and Stalled or Reconciling";
  if (!ready && stalled == reconciling) return "not Ready, and not one of Stalled and Reconciling";
  return "";
}

std::string ReadyDiffers(const Member& m, const Seen& seen) {
  std::string status = seen.Status("Ready"), reason = seen.Reason("Ready");
  if (m.why.empty()) return status == "True" ? "" : "not Ready: " + reason + ": " + seen.Message("Ready");
  auto reasons = Split(m.why, '|');
  bool expected = std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
  return status == "False" && expected ? "" : fmt::format("Ready is {} ({}), not False ({})", status, reason, m.why);
}

std::string PausedDiffers(const Member& m, const Seen& seen) {
  bool wanted = m.at_zero || m.spec.paused;
  bool says = seen.Status("Paused") == "True" && seen.Reason("Paused") == "Paused";
  return wanted == says ? "" : fmt::format("Paused is \"{}\"", seen.Status("Paused"));
}

}  // namespace

std::string World::Lost(const Fleet& fleet) {
  auto& client = cluster_.client();
  for (const auto& [what, kept] : kept_) {
    kube::Resource resource = kept.resource;
    // At a version that is served now: another one than it was made at, maybe.
    if (const int crd = fleet[kept.who].crd; kept.by == Verb::kObject && crd >= 0)
      resource.version = ReleaseOf(crd).storage;
    Result<kube::Object> live = Error{};
    kube::Eventually([&, &kept = kept] {
      live = client.Get(cluster_.ctx(), resource, kept.ns, kept.name, {.metadata_only = true});
      return live.ok() || live.code() == Code::kNotFound;
    });
    // U3: one that is stored at a version that its CRD no longer has is there, and nobody's any more.
    if (!live.ok()) return what + " is lost: " + live.error().message;
    if (live->uid() != kept.uid) return what + " is lost, another one has its name";
    if (kept.by == Verb::kPlant && live->annotation("planted") != "stays") return what + " isn't as it was made";
  }
  for (const auto& [name, uid] : namespaces_) {
    kube::ObjectPtr ns = view_->Get(kube::Builtin("Namespace"), "", name);
    if (ns == nullptr || ns->uid() != uid || ns->deleting()) return name + " is lost";
  }
  return "";
}

std::string World::ProviderDiffers(int who, const Member& m) {
  const Names& names = NamesOf(who);
  kube::ObjectPtr object = view_->Get(api::ResourceOf(names.type), names.ns, names.name);
  Seen seen;
  if (object != nullptr) seen = {true, api::ParseProviderMeta(*object)};
  auto with = [&](const std::string& words) { return words.empty() ? "" : names.own + ": " + words; };
  if (seen.exists != m.exists) return with(seen.exists ? "it is still there: " + seen.Describe() : "it is gone");
  if (!m.exists) return "";
  if (seen.provider.deleting != m.deleting) return with("its deletion");
  if (m.hands_off) return with(seen.Reason("Paused") == "HandsOff" ? "" : "Paused doesn't say HandsOff");
  if (!seen.provider.has_finalizer) return with("no finalizer");
  if (seen.provider.status.observed_generation != seen.provider.generation) return with("observedGeneration is old");
  const std::string version = m.applied ? ReleaseOf(m.applied->version).version : "";
  if (seen.provider.status.installed_version != version) {
    return with(fmt::format("installedVersion is \"{}\", not \"{}\"", seen.provider.status.installed_version, version));
  }
  if (seen.provider.status.contract != m.contract()) return with("contract is " + seen.provider.status.contract);
  for (const std::string& words : {ReadyDiffers(m, seen), UntrueWords(seen), InventoryDiffers(seen, who, m),
                                   m.deleting ? std::string() : PausedDiffers(m, seen)}) {
    if (!words.empty()) return with(words);
  }
  return "";
}

std::string World::InventoryDiffers(const Seen& seen, int who, const Member& m) {
  auto inventory = kube::Inventory::Parse(seen.provider.status.inventory);
  if (!inventory.ok()) return "the inventory can't be read";
  std::set<kube::ObjectId> wanted;
  for (int part = 0; m.applied && part < kParts; ++part) wanted.insert(IdOf(who, Part(part), m.applied->version));
  // And what clusterctl knows it by (A1).
  if (m.applied) wanted.insert({"clusterctl.cluster.x-k8s.io", "Provider", NamesOf(who).ns, NamesOf(who).label});
  std::set<kube::ObjectId> planted;
  for (Place place : m.planted) planted.insert(IdOf(who, place));
  for (const auto& [id, entry] : inventory->entries()) {
    if (!wanted.contains(id) && planted.contains(id)) continue;  // known by its labels, and kept all the same (U4, U11)
    if (!wanted.erase(id)) return "its inventory has " + id.ToString();
    if (entry.stale) return id.ToString() + " is stale";
  }
  return wanted.empty() ? "" : "its inventory lacks " + wanted.begin()->ToString();
}

std::string World::ObjectsDiffer(const Fleet& fleet, Objects left) {
  for (int who = 0; who < kMembers; ++who) {
    const Member& m = fleet[who];
    for (int i = 0; i < kParts; ++i) {
      Part part = Part(i);
      const kube::ObjectId id = IdOf(who, part, m.applied ? m.applied->version : 0);
      bool wanted = part == Part::kCrd ? m.crd >= 0 : m.applied.has_value();
      auto found = left.find(id);
      if (m.loose.contains(part)) {
        if (found != left.end()) left.erase(found);
        continue;
      }
      if (wanted && found == left.end()) return id.ToString() + " isn't there";
      if (!wanted) continue;
      if (std::string words = model::Differs(who, part, m, *found->second); !words.empty()) return words;
      left.erase(found);
    }
    left.erase({"", "ConfigMap", NamesOf(who).ns, "stranger"});
    for (Place place : m.planted) left.erase(IdOf(who, place));
  }
  return left.empty() ? "" : left.begin()->first.ToString() + " is left over";
}

std::string World::Differs(const Fleet& fleet) {
  for (int who = 0; who < kMembers; ++who) {
    if (std::string words = ProviderDiffers(who, fleet[who]); !words.empty()) return words;
  }
  Objects live;
  for (Part part : {Part::kCrd, Part::kConfig, Part::kRole, Part::kHook, Part::kDeployment}) {
    const kube::Resource& resource = ResourceOf(part);
    for (auto& object : view_->List(resource)) {
      if (part == Part::kCrd && object->deleting()) continue;
      live[{resource.group, resource.kind, object->ns(), object->name()}] = std::move(object);
    }
  }
  return ObjectsDiffer(fleet, std::move(live));
}

}  // namespace capi::e2e::model
