#include "operator/ui/node.h"

#include <algorithm>
#include <map>

#include "advice/explain.h"
#include "api/reasons.h"
#include "operator/decide/hold.h"

namespace capi::ops::ui {
namespace {

bool Holds(const api::ProviderStatus& status, std::string_view type) { return kube::IsTrue(status.conditions, type); }

Json IdJson(const kube::ObjectId& id) {
  return {{"group", id.group}, {"kind", id.kind}, {"namespace", id.ns}, {"name", id.name}};
}

Json UpgradesOf(const api::ProviderStatus& status) {
  Json out = Json::array();
  for (const api::AvailableUpgrade& one : status.available_upgrades) {
    out.push_back({{"version", one.version},
                   {"contract", one.contract},
                   {"needs", one.needs},
                   {"refused", one.refused ? one.refused->message : ""}});
  }
  return out;
}

Json WorkloadsOf(const Facts& facts) {
  Json out = Json::array();
  for (const WorkloadFact& w : facts.workloads) {
    Json one = IdJson(w.id);
    one.update({{"healthy", w.healthy}, {"message", w.message}, {"replicas", w.replicas}, {"available", w.available}});
    out.push_back(std::move(one));
  }
  return out;
}

Json NeedsOf(const Place& place) {
  Json out = Json::array();
  for (const Need& need : place.needs) {
    out.push_back({{"kind", need.kind}, {"namespace", need.ns}, {"name", need.name}});
  }
  return out;
}

// The certificate that ends first.
std::string FirstEnd(const Facts& facts) {
  std::string first;
  for (const CertificateFact& one : facts.certificates) {
    if (first.empty() || one.ends < first) first = one.ends;
  }
  return first;
}

// What is known of each object of the inventory: "applied", "changed", "missing", "pending" (not applied yet, or a CRD
// that isn't established), "leftover" (the release no longer has it), "unknown".
Json ObjectOf(const kube::ObjectId& id, const kube::InventoryEntry& entry, const Facts* facts,
              const std::map<kube::ObjectId, const DriftFact*>& drifts) {
  Json out = IdJson(id);
  out["version"] = entry.version;
  std::string state = facts == nullptr || facts->blind ? "unknown" : "applied";
  if (facts != nullptr && id.kind == "CustomResourceDefinition") {
    const auto& pending = facts->pending_crds;
    if (std::find(pending.begin(), pending.end(), id.name) != pending.end()) state = "pending";
  }
  if (!entry.ever_applied()) state = "pending";
  if (auto drift = drifts.find(id); drift != drifts.end()) {
    state = drift->second->missing ? "missing" : "changed";
    out["by"] = drift->second->by;
  }
  if (entry.stale) state = "leftover";
  out["state"] = state;
  return out;
}

Json InventoryOf(const api::Provider& provider, const Facts* facts) {
  auto inventory = kube::Inventory::Parse(provider.status.inventory);
  if (!inventory.ok()) return {{"error", inventory.error().message}};
  std::map<kube::ObjectId, const DriftFact*> drifts;
  if (facts != nullptr) {
    for (const DriftFact& drift : facts->drifts) drifts[drift.id] = &drift;
  }
  Json objects = Json::array();
  for (const auto& [id, entry] : inventory->entries()) objects.push_back(ObjectOf(id, entry, facts, drifts));
  return {{"objects", std::move(objects)}};
}

// What the spec names, and never what that holds.
Json NamesIn(const api::ProviderSpec& spec) {
  Json out = Json::array();
  for (const auto& [field, object] : ReferencesOf(spec)) {
    out.push_back({{"field", field}, {"kind", object.kind}, {"namespace", object.ns}, {"name", object.name}});
  }
  return out;
}

Json HistoryOf(const api::ProviderStatus& status) {
  Json out = Json::array();
  for (const api::HistoryEntry& entry : status.history) {
    out.push_back({{"version", entry.version},
                   {"contract", entry.contract},
                   {"outcome", entry.outcome},
                   {"started", entry.started},
                   {"time", entry.time},
                   {"message", entry.message},
                   {"insteadOf", entry.instead_of}});
  }
  return out;
}

Json TransitionsOf(const std::vector<Transition>& transitions) {
  Json out = Json::array();
  for (const Transition& t : transitions) {
    out.push_back(
        {{"time", t.time}, {"type", t.type}, {"status", t.status}, {"reason", t.reason}, {"message", t.message}});
  }
  return out;
}

Json CertificatesOf(const Facts& facts) {
  Json out = Json::array();
  for (const CertificateFact& one : facts.certificates) {
    out.push_back({{"namespace", one.secret.ns},
                   {"secret", one.secret.name},
                   {"certificate", one.certificate},
                   {"ends", one.ends}});
  }
  return out;
}

// At rest because somebody wants it so. What holds up one that is still at zero is told as that (P2): the condition
// Paused alone says too little.
bool IsAtRest(const api::ProviderStatus& status, const advice::Explanation& why) {
  const kube::Condition* paused = kube::FindCondition(status.conditions, api::condition::kPaused);
  if (paused == nullptr || paused->status != "True") return false;
  return why.ready || why.reason == api::reason::kPaused || paused->reason == api::reason::kHandsOff;
}

}  // namespace

std::string StateOf(const api::Provider& provider, const Place& place) {
  namespace condition = api::condition;
  const api::ProviderStatus& status = provider.status;
  if (provider.deleting) return "deleting";
  const advice::Explanation why = advice::Explain(provider);
  if (why.reason.empty()) return "unseen";
  if (IsAtRest(status, why)) return "paused";
  if (why.ready) return "ready";
  if (Holds(status, condition::kStalled)) return "stalled";
  // By the reason: who waits for one that the viewer may not see, or for a source that the spec doesn't name, waits all
  // the same.
  const advice::Awaited awaited = advice::AwaitedBy(why.reason, why.message);
  const bool waits = awaited.core || awaited.others || TellsOfSource(why.reason) || !place.needs.empty();
  return waits ? "waiting" : "working";
}

Json NodeOf(const CachedProvider& cached, const Facts* facts, const Place& place) {
  const api::Provider& provider = *cached.provider;
  const api::ProviderStatus& status = provider.status;
  return {{"id", provider.id.Key()},
          {"kind", api::KindOf(provider.id.type).kind},
          {"namespace", provider.id.ns},
          {"name", provider.id.name},
          {"state", StateOf(provider, place)},
          {"installedVersion", status.installed_version},
          {"version", provider.spec.version},
          {"declaredVersion", cached.declared_version},
          {"contract", status.contract},
          {"desiredContract", status.desired_contract},
          {"outcome", status.history.empty() ? "" : status.history.front().outcome},
          {"why", advice::AsJson(advice::Explain(provider))},
          {"waitsFor", place.waits_for},
          {"needs", NeedsOf(place)},
          {"root", place.root},
          {"upgrades", UpgradesOf(status)},
          {"seen", facts != nullptr},
          {"workloads", facts == nullptr ? Json::array() : WorkloadsOf(*facts)},
          {"drifted", facts == nullptr ? 0 : facts->drifts.size()},
          {"certificateEnds", facts == nullptr ? "" : FirstEnd(*facts)}};
}

Json DetailsOf(const CachedProvider& cached, const Facts* facts, const Place& place,
               const std::vector<Transition>& transitions) {
  Json out = NodeOf(cached, facts, place);
  const api::Provider& provider = *cached.provider;
  out["created"] = provider.created;
  out["source"] = provider.status.source;
  out["conditions"] = kube::ConditionsToJson(provider.status.conditions);
  out["transitions"] = TransitionsOf(transitions);
  out["history"] = HistoryOf(provider.status);
  out["inventory"] = InventoryOf(provider, facts);
  out["references"] = NamesIn(provider.spec);
  out["certificates"] = facts == nullptr ? Json::array() : CertificatesOf(*facts);
  out["fights"] = facts == nullptr ? Json::array() : Json(facts->fights);
  out["releases"] = facts == nullptr ? Json::array() : Json(facts->releases);
  out["users"] = facts == nullptr ? Json::array() : Json(facts->users);
  if (cached.spec_error) out["specError"] = cached.spec_error->message;
  return out;
}

}  // namespace capi::ops::ui
