#include "operator/act/certificates/handing_over.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "api/certificates/names.h"
#include "lifecycle/deletion.h"
#include "operator/decide/certificates/due.h"
#include "operator/report/announce.h"

namespace capi::ops {
namespace {

struct Plan {
  std::vector<kube::Manifest> come;
  std::vector<kube::ObjectId> go;
};

// What the render has and the inventory hasn't, and the other way round.
Plan PlanOf(const Observation& o, const std::vector<kube::Manifest>& rendered) {
  Plan plan;
  std::set<kube::ObjectId> stays;
  for (const kube::Manifest& manifest : rendered) {
    stays.insert(manifest.id);
    const kube::InventoryEntry* entry = o.inventory.Find(manifest.id);
    const bool is_applied = entry != nullptr && !entry->stale && entry->hash == manifest.hash;
    if (IsOfCertificates(manifest) && !is_applied) plan.come.push_back(manifest);
  }
  for (const auto& [id, entry] : o.inventory.entries()) {
    if (IsCertificateRequest(id) && !stays.contains(id)) plan.go.push_back(id);
  }
  for (const CertificateSeen& seen : o.fleet.certificates) {
    if (!stays.contains(seen.id)) plan.go.push_back(seen.id);
  }
  return plan;
}

std::string Told(const Observation& o) {
  return o.builtin_certificates ? "The operator makes the provider's certificates now, with the keys that there are"
                                : "cert-manager makes the provider's certificates now, with the keys that there are";
}

}  // namespace

bool IsOfCertificates(const kube::Manifest& manifest) {
  return IsCertificateRequest(manifest.id) || HoldsCertificate(manifest);
}

HandingOver::HandingOver(Needs needs)
    : needs_(needs), applier_(needs.client, TrackedApply(needs.observer.tracks()), &needs_.certifier) {}

Certifier::Kept HandingOver::Run(const Context& ctx, const Observation& o) {
  Certifier::Kept kept;
  api::Provider provider = o.provider;
  kept.ended = HandOn(ctx, provider, o, kept);
  if (kept.ended.ok()) kept.what.push_back(Told(o));
  return kept;
}

Status HandingOver::Send(const Context& ctx, const api::Provider& provider,
                         const std::vector<kube::Manifest>& manifests, kube::Inventory& inventory,
                         Certifier::Kept& kept) {
  std::vector<kube::Change> changes;
  Status applied = applier_.Apply(ctx, provider.id, manifests, inventory, changes);
  for (const kube::Change& change : changes) {
    if (change.action == kube::Change::Action::kFailed) continue;
    inventory.Put(change.id, change.entry);
    ++kept.writes;
  }
  return applied;
}

// Keys stay where they are: of cert-manager's go the requests alone, of ours nothing but that we keep it.
Status HandingOver::LetGo(const Context& ctx, const Observation& o, const std::vector<kube::ObjectId>& ids) {
  const api::ProviderId& provider = o.provider.id;
  std::vector<kube::ObjectId> requests;
  for (const BundleSeen& target : o.fleet.bundles) {
    if (!o.builtin_certificates && !target.mark.empty()) TRY(needs_.certifier.LeaveBundles(ctx, target.id));
  }
  for (const kube::ObjectId& id : ids) {
    if (IsCertificateRequest(id)) {
      requests.push_back(id);
    } else {
      TRY(needs_.certifier.Leave(ctx, id));
    }
  }
  std::vector<kube::Change> changes;
  return applier_.Delete(ctx, provider, requests, lifecycle::KeepsOthers(provider), changes);
}

Status HandingOver::HandOn(const Context& ctx, api::Provider& provider, const Observation& o, Certifier::Kept& kept) {
  auto rendered = needs_.rendered.All(provider.id.Key(), provider.status.applied);
  if (!rendered) return Error{Code::kUnavailable, "the render had to make room for another one", {}};
  const Plan plan = PlanOf(o, *rendered);
  kube::Inventory inventory = o.inventory;
  for (const kube::Manifest& manifest : plan.come) {
    inventory.Put(manifest.id, {kube::GroupVersion::Parse(manifest.api_version).version, "", "", false});
  }
  if (!(inventory == o.inventory)) TRY(AnnounceInventory(ctx, needs_.writer, provider, inventory));
  TRY(Send(ctx, provider, plan.come, inventory, kept));
  // Before a Secret of ours is let go: what no inventory has any more is never pruned, and keeps its key (U4).
  kube::Inventory left = inventory;
  for (const kube::ObjectId& id : plan.go) {
    if (!IsCertificateRequest(id)) left.Remove(id);
  }
  TRY(AnnounceInventory(ctx, needs_.writer, provider, left));
  for (const kube::Manifest& manifest : *rendered) {
    if (HoldsCertificate(manifest)) TRY(needs_.certifier.Disown(ctx, manifest.id));
  }
  TRY(LetGo(ctx, o, plan.go));
  if (o.builtin_certificates && !plan.go.empty()) {
    for (const kube::ObjectId& id : plan.go) left.Remove(id);
    TRY(AnnounceInventory(ctx, needs_.writer, provider, left));
  }
  kept.writes += 1;
  return Ok();
}

}  // namespace capi::ops
