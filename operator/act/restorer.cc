#include "operator/act/restorer.h"

#include "api/reasons.h"
#include "operator/act/certificates/certificate_secret.h"
#include "operator/decide/pause.h"

namespace capi::ops {
namespace {

struct Correction {
  Drift drift;
  std::string what;
  bool silent = false;
};

Correction CorrectionOf(const Drift& drift, const kube::Manifest& manifest, bool autoscaled) {
  std::vector<std::string> paths;
  if (!drift.missing && !drift.trace.changed.is_null()) {
    auto json = ParseJson(manifest.text);
    if (json.ok()) paths = PathsIn(drift.trace.changed, *json);
  }
  // Scaling is no drift where an autoscaler does it: our claim to the field is given up, nothing else happens.
  bool silent = autoscaled && !drift.missing && paths == std::vector<std::string>{".spec.replicas"};
  return {drift, Describe(drift, paths), silent};
}

// In the middle of an upgrade the render has more than was sent: CRDs that will store another version, webhook
// configurations whose paths nobody serves yet (U2). These are not restored from it. Once all of it is applied the
// inputs say so, and hashes don't count: those of what is secret are others when the key of inventories was made anew.
bool WasApplied(const Observation& o, const kube::InventoryEntry& entry, const kube::Manifest& manifest) {
  if (o.rendered == o.provider.status.applied) return true;
  return entry.hash == manifest.hash || entry.hash == WithoutReplicas(manifest).hash;
}

// Another provider's render took its place since this pass began. Nothing is known of the release, so nothing changes;
// the next pass renders again. Not at once: a render that never fits would be made over and over.
Done RenderIsGone(const Context& ctx, const Restore& step, const Error& error) {
  constexpr Millis kAgain = Seconds(10);
  ctx.log.Warn("can't restore now", {{"error", error.message}});
  Done done;
  done.hold = step.hold;
  done.again_after = kAgain;
  return done;
}

}  // namespace

bool IsAutoscaled(const Observation& o, const kube::ObjectId& id) {
  if (AppliesAtZero(o) || DeclaredReplicas(o, id)) return false;
  for (const Workload& workload : o.fleet.workloads) {
    if (workload.id == id) return !workload.scaled_by.empty();
  }
  return false;
}

void LeaveReplicas(const Observation& o, std::vector<kube::Manifest>& manifests) {
  for (kube::Manifest& manifest : manifests) {
    if (IsAutoscaled(o, manifest.id)) manifest = WithoutReplicas(manifest);
  }
}

void AcceptDrift(const Drift& drift, kube::Inventory& inventory) {
  const kube::InventoryEntry* entry = inventory.Find(drift.id);
  if (entry == nullptr) return;
  if (drift.missing) return inventory.Remove(drift.id);
  kube::InventoryEntry now = *entry;
  now.fields = drift.trace.fields;
  inventory.Put(drift.id, std::move(now));
}

Restorer::Restorer(Needs needs)
    : needs_(needs), applier_(needs.client, TrackedApply(needs.observer.tracks()), needs.certifier) {}

Status Restorer::Send(const Context& ctx, const api::ProviderId& provider, const std::vector<kube::Manifest>& manifests,
                      const kube::Inventory& inventory, std::vector<kube::Change>& changes, PhaseTimes& times) {
  if (manifests.empty()) return Ok();
  PhaseTimer timer(*ctx.clock, times, Phase::kApply);
  if (needs_.certifier == nullptr) return applier_.Apply(ctx, provider, manifests, inventory, changes);
  // A certificate that can't be made holds up nothing else (I19).
  std::vector<kube::Manifest> others;
  std::vector<std::vector<kube::Manifest>> parts;
  for (const kube::Manifest& manifest : manifests) {
    if (HoldsCertificate(manifest)) {
      parts.emplace_back(1, manifest);
    } else {
      others.push_back(manifest);
    }
  }
  if (!others.empty()) parts.push_back(std::move(others));
  Status ended = Ok();
  for (const auto& part : parts) {
    Status applied = applier_.Apply(ctx, provider, part, inventory, changes);
    if (ended.ok()) ended = std::move(applied);
  }
  return ended;
}

Done Restorer::Run(const Context& ctx, const Observation& o, const Restore& step) {
  Done done;
  done.hold = step.hold;
  const std::string key = o.provider.id.Key();
  kube::Inventory inventory = o.inventory;
  std::vector<kube::Manifest> manifests;
  std::map<kube::ObjectId, Correction> corrections;
  for (const Drift& drift : step.drifts) {
    const kube::InventoryEntry* entry = o.inventory.Find(drift.id);
    if (entry == nullptr) continue;
    auto rendered = needs_.rendered.Get(key, o.rendered, drift.id);
    if (!rendered.ok()) return RenderIsGone(ctx, step, rendered.error());
    std::optional<kube::Manifest>& manifest = *rendered;
    if (!manifest) {
      AcceptDrift(drift, inventory);
      continue;
    }
    if (!WasApplied(o, *entry, *manifest)) continue;
    bool autoscaled = !drift.missing && IsAutoscaled(o, drift.id);
    corrections.emplace(drift.id, CorrectionOf(drift, *manifest, autoscaled));
    manifests.push_back(autoscaled ? WithoutReplicas(*manifest) : std::move(*manifest));
    inventory.Put(drift.id, {entry->version, "", "", false});
  }
  std::vector<kube::Change> changes;
  auto applied = Send(ctx, o.provider.id, manifests, inventory, changes, done.times);
  for (const Drift& drift : step.drifts) {
    if (corrections.contains(drift.id)) inventory.Put(drift.id, *o.inventory.Find(drift.id));  // until it is applied
  }
  for (const kube::Change& change : changes) {
    if (change.action == kube::Change::Action::kFailed) {
      inventory.Put(change.id, *o.inventory.Find(change.id));  // of its certificate: what was applied before counts
      needs_.fights.Failed(key, corrections.at(change.id).drift);
      continue;
    }
    inventory.Put(change.id, change.entry);
    const Correction& one = corrections.at(change.id);
    if (one.silent) continue;
    needs_.fights.Restored(key, one.drift, one.what);
    done.restored.push_back(one.what);
  }
  if (!(inventory == o.inventory)) done.inventory = inventory;
  if (!applied.ok() && !done.hold) {
    done.hold = NotTaken(api::reason::kInstallFailed, kube::AnyRefused(changes), applied.error());
  }
  auto fleet = needs_.observer.ObserveFleet(ctx, key, inventory);
  if (fleet.ok()) done.fleet = *fleet;
  return done;
}

}  // namespace capi::ops
