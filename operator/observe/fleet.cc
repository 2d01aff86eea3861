// What a provider's objects look like: workloads, CRDs, and what isn't as it was applied.
#include <algorithm>
#include <set>
#include <utility>

#include "operator/decide/certificates/bundles.h"
#include "operator/decide/certificates/due.h"
#include "operator/observe/cert_manager.h"
#include "operator/observe/observe.h"
#include "operator/observe/slim.h"

namespace capi::ops {
namespace {

// Of a Certificate whose Secret has another name now: the new one counts, and is the one that bundles follow.
void DropFormer(const kube::Inventory& inventory, std::vector<CertificateSeen>& certificates) {
  std::set<std::pair<std::string, std::string>> current;
  for (const CertificateSeen& seen : certificates) {
    if (!inventory.Find(seen.id)->stale) current.emplace(seen.id.ns, seen.state.certificate);
  }
  std::erase_if(certificates, [&](const CertificateSeen& seen) {
    return inventory.Find(seen.id)->stale && current.contains({seen.id.ns, seen.state.certificate});
  });
}

}  // namespace

void Observer::ObserveCrd(const std::string& name, const kube::ObjectPtr& crd, Fleet& fleet) {
  if (!crd || !kube::HealthOf(*crd).ok()) fleet.pending_crds.push_back(name);
  CrdState state = crd ? StateOf(*crd) : CrdState{};
  if (state.stored.size() <= 1) return;
  state.migration = migration_of_(name);
  fleet.unmigrated.push_back(std::move(state));
}

Status Observer::ReadUncertain(const Context& ctx, const kube::ObjectId& id) {
  if (!tracks_.IsUncertain(id)) return Ok();
  auto live = client_.Get(ctx.InOwnName(), kube::Builtin(id.kind), id.ns, id.name, {.metadata_only = true});
  if (!live.ok() && live.code() != Code::kNotFound) return live.error().With(id.ToString());
  if (!live.ok()) return tracks_.Forget(id), Ok();
  KeepTrace(*live);
  tracks_.Expect(id, live->resource_version(), TraceOf(*live).scaled_by);
  return Ok();
}

Result<Fleet> Observer::ObserveFleet(const Context& ctx, const std::string& key, const kube::Inventory& inventory) {
  Fleet fleet;
  const KindWatches watches = TRY(WatchesOf(ctx, key, inventory));
  for (const auto& [id, entry] : inventory.entries()) {
    if (entry.stale && !TellsOfCertificates(id.group_kind())) continue;
    const auto& informer = watches.at({id.group_kind(), entry.version});
    const bool is_elsewhere = SeesSecretsOfOneNamespace(settings_) && id.ns != settings_.ns && Is(id, "", "Secret");
    if (!informer || is_elsewhere) {
      fleet.blind = true;
      continue;
    }
    TRY(ReadUncertain(ctx, id));
    const auto [object, awaited, scaled_by] =
        tracks_.Read(informer->resource(), id, [&informer, &id = id] { return informer->Get(id.ns, id.name); });
    if (awaited) fleet.awaited = std::min(fleet.awaited.value_or(*awaited), *awaited);
    Trace trace = object ? TraceOf(*object) : Trace{};
    if (object && !awaited && !object->deleting()) SeeCertificates(id, trace.marks, fleet);
    if (entry.stale) continue;  // the release says no more of it; but until it is pruned it may be called
    if (IsCrd(id)) ObserveCrd(id.name, object, fleet);
    if (IsWorkload(id)) {
      Workload workload = WorkloadOf(id, object);
      workload.scaled_by = scaled_by.value_or(trace.scaled_by);
      if (tracks_.Outlived(workload)) workload.terminating = 0;
      if (object && awaited) {
        workload.health = {kube::HealthState::kInProgress, "the change was just applied"};
        workload.awaited = true;
        workload.at_zero = false;
      }
      fleet.workloads.push_back(std::move(workload));
    }
    if (awaited || !entry.ever_applied()) continue;
    if (!object) {
      fleet.drifts.push_back({id, true, {}, {}});
    } else if (!entry.fields.empty() && trace.fields != entry.fields && !object->deleting()) {
      fleet.drifts.push_back({id, false, std::move(trace), {}});
    }
  }
  DropFormer(inventory, fleet.certificates);
  return fleet;
}

Result<bool> Observer::IsFresh(const Context& ctx, const std::string& key, const std::vector<kube::ObjectId>& ids) {
  bool some = false;
  for (const auto& id : ids) {
    if (!IsCrd(id) && !IsWorkload(id)) continue;
    some = true;
    auto informer = IsCrd(id) ? TRY(Crds(ctx, key)) : TRY(Workloads(ctx, key, id.kind));
    if (informer->Get(id.ns, id.name)) return false;
  }
  return some;
}

Result<bool> Observer::CrdsEstablished(const Context& ctx, const std::string& key, const api::Provider& core) {
  auto inventory = kube::Inventory::Parse(core.status.inventory);
  if (!inventory.ok()) return false;
  auto crds = TRY(Crds(ctx, key));
  size_t found = 0;
  for (const auto& [id, entry] : inventory->entries()) {
    if (!IsCrd(id) || entry.stale) continue;
    ++found;
    kube::ObjectPtr crd = crds->Get("", id.name);
    if (!crd || !kube::HealthOf(*crd).ok()) return false;
  }
  return found > 0;
}

Result<std::optional<CrdState>> Observer::LiveCrd(const Context& ctx, const std::string& key,
                                                  const kube::Manifest& crd) {
  auto crds = TRY(Crds(ctx, key));
  if (kube::ObjectPtr ours = crds->Get("", crd.id.name)) return std::optional<CrdState>(StateOf(*ours));
  // Without the label: discovery has its kind.
  auto kind = client_.mapper().For(ctx, {crd.crd_group, crd.crd_kind});
  if (!kind.ok() && kind.code() == Code::kNotFound) return std::optional<CrdState>();
  if (!kind.ok() && kind.code() != Code::kUnavailable) return kind.error();
  const kube::ObjectPtr live = TRY(ReadCrd(ctx, crd.id));
  return live ? std::optional<CrdState>(StateOf(*live)) : std::nullopt;
}

}  // namespace capi::ops
