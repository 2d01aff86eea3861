// Installer::CheckCluster: what needs the cluster and comes before the first write (behaviour.md I5, I13, U3).
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "api/kinds.h"
#include "api/reasons.h"
#include "kube/apply/apply.h"
#include "operator/act/install/installation.h"
#include "operator/act/install/installer.h"
#include "operator/act/rebuild.h"
#include "operator/decide/crd_stages.h"
#include "operator/decide/pause.h"
#include "operator/decide/rights.h"
#include "operator/decide/rollout.h"

namespace capi::ops {
namespace {

namespace reason = api::reason;

// I8: a kind that came after the render, which took it for one with a namespace. An object under another identity than
// the live one would be applied, and the live one pruned.
std::optional<kube::GroupKind> WithAnotherScope(kube::RestMapper& mapper,
                                                const std::vector<kube::Manifest>& manifests) {
  std::set<kube::GroupKind> own;  // their CRD comes with the release, and says it
  for (const auto& manifest : manifests) own.insert({manifest.crd_group, manifest.crd_kind});
  for (const auto& manifest : manifests) {
    if (own.contains(manifest.id.group_kind())) continue;
    auto known = mapper.Known(manifest.id.group_kind());
    if (known && known->namespaced == manifest.id.ns.empty()) return manifest.id.group_kind();
  }
  return std::nullopt;
}

// Of kinds as MissingKinds names them, by apiVersion and kind.
std::set<std::string> GroupsOf(const std::vector<std::string>& kinds) {
  std::set<std::string> groups;
  for (const auto& kind : kinds) groups.insert(kube::GroupVersion::Parse(kind.substr(0, kind.find(' '))).group);
  return groups;
}

// Created by our apply: nobody else has said its selector, which whoever creates it says (but of a Job, which serves
// nobody), and nobody changes later. A restart, other replicas or our next apply say nothing of who made it.
bool IsOfOurMaking(const kube::Object& workload) {
  if (kube::FieldsHash(workload, api::kFieldManager).empty()) return false;
  const Json& entries = *Find(workload.json(), {"metadata", "managedFields"});
  return std::none_of(entries.begin(), entries.end(), [](const Json& entry) {
    return GetString(entry, {"manager"}) != api::kFieldManager &&
           Find(entry, {"fieldsV1", "f:spec", "f:selector"}) != nullptr;
  });
}

// What is older than the first change on record no broken-off installation has made: our own of a lost status (U11), or
// one that a take-over gave to us (A1c). Where the times can't be told it counts as older: stages are slower, no more.
bool IsOlder(const kube::Object& workload, const api::ProviderStatus& status) {
  const std::string began = status.history.empty() ? "" : status.history.back().started;
  auto made_at = ParseTime(GetString(workload.json(), {"metadata", "creationTimestamp"})), began_at = ParseTime(began);
  return !made_at.ok() || !began_at.ok() || *made_at < *began_at;
}

// Old pods of a Deployment that is made anew serve on, whether or not it is there by now (U9).
bool LeavesPods(const kube::Inventory& inventory) {
  return std::any_of(inventory.entries().begin(), inventory.entries().end(), [](const auto& entry) {
    return entry.second.stale && entry.first.group_kind() == kube::GroupKind{"apps", "ReplicaSet"};
  });
}

// Whoever put it there: the watches show those with our label alone. `broken_off`: what an installation that goes on
// has created itself doesn't count.
Result<bool> AnyWorkloadIsThere(const Context& ctx, kube::Client& client, const std::vector<kube::Manifest>& manifests,
                                const api::ProviderStatus* broken_off) {
  for (const auto& manifest : manifests) {
    const kube::ObjectId& id = manifest.id;
    if (!IsWorkload(id)) continue;
    auto live = client.Get(ctx, kube::Builtin(id.kind), id.ns, id.name, {.metadata_only = true});
    const bool its_own = live.ok() && broken_off != nullptr && IsOfOurMaking(*live) && !IsOlder(*live, *broken_off);
    if (live.ok() && !its_own) return true;
    if (!live.ok() && live.code() != Code::kNotFound) return live.error().With(id.ToString());
  }
  return false;
}

// kUnavailable passes by itself: the next try renders with what is known now.
Hold RenderedTooSoon(const kube::GroupKind& kind) {
  return NotAccepted(reason::kMissingKinds,
                     Error{Code::kUnavailable,
                           fmt::format("the cluster got kind {} while the release was rendered: it is rendered again",
                                       kind.ToString()),
                           {}});
}

}  // namespace

// Everything that needs the cluster and comes before the first write (I5, I13).
std::optional<Hold> Installer::CheckCluster(const Context& ctx, const Observation& o, Installation& m) {
  std::vector<kube::ObjectId>& ids = m.candidate.objects;
  for (const auto& manifest : m.manifests) ids.push_back(manifest.id);
  if (auto hold = CheckInstall(InstallRule::Stage::kObjects, o, m.candidate)) return hold;
  auto missing = applier_.MissingKinds(ctx, m.manifests);
  if (missing.ok() && !missing->empty()) {
    // Watch first, look again after: a CRD that comes in between isn't missed. A new watch tells of all that there are,
    // which invalidates what discovery said before; one that others have has told of each.
    needs_.observer.AwaitGroups(o.provider.id.Key(), GroupsOf(*missing));
    auto watching = needs_.observer.WatchAllCrds(ctx, o.provider.id.Key());
    if (!watching.ok()) return NotAnswered(watching.error());
    missing = applier_.MissingKinds(ctx, m.manifests);
  }
  if (!missing.ok()) return NotAnswered(missing.error());
  if (auto kind = WithAnotherScope(needs_.client.mapper(), m.manifests)) return RenderedTooSoon(*kind);
  m.candidate.missing_kinds = std::move(*missing);
  if (auto hold = CheckInstall(InstallRule::Stage::kKinds, o, m.candidate)) return hold;
  m.inputs = m.candidate.rollback ? m.inputs : InputsDigest(o, m.candidate.version, m.stored ? m.stored->stamp : "");
  if (auto hold = CheckRights(ctx, o, m)) return hold;
  auto fresh = needs_.observer.IsFresh(ctx, o.provider.id.Key(), ids);
  if (!fresh.ok()) return NotAnswered(fresh.error());
  m.before = o.inventory;
  if (auto hold = ReadLiveCrds(ctx, o, m)) return hold;
  const bool untouched = *fresh && o.inventory.size() == 0 && m.live.empty();
  auto first = IsFirst(ctx, o, m, untouched);
  if (!first.ok()) return NotAnswered(first.error());
  m.first = *first;
  if (o.former || (untouched && m.first)) return std::nullopt;  // a take-over asks by itself
  if (o.inventory.size() == 0) {
    auto found = RebuildInventory(ctx.InOwnName(), needs_.client, o);
    if (!found.ok()) return NotAnswered(found.error().With("looking for what is installed"));
    m.found = std::move(found->inventory);
  }
  if (auto hold = CheckStoredVersions(o, m)) return hold;
  // The server took all of it before the pods were changed. Where the paths of webhooks change, requests fail until the
  // new ones are applied, and a second dry run of all CRDs would be most of that time (U2).
  if (m.cached) return std::nullopt;
  std::vector<kube::Manifest> changed;
  for (const kube::Manifest* manifest : WhatIsSent(o.inventory, m.manifests)) changed.push_back(*manifest);
  std::vector<kube::Change> failed;
  auto accepted = applier_.DryRun(ctx, o.provider.id, changed, &failed);
  if (!accepted.ok()) return NotTaken(reason::kDryRunFailed, kube::AnyRefused(failed), accepted.error());
  return std::nullopt;
}

// T3: what is missing once the change is announced the server tells. But where an object may be another's it is asked,
// and told: by the answer it is known whose may be told, too (T8).
std::optional<Hold> Installer::CheckRights(const Context& ctx, const Observation& o, Installation& m) {
  m.candidate.sight = Sight::kUnknown;
  const bool announced = IsAnnounced(o.provider.status, m.inputs, m.candidate.rollback);
  if (announced && !CheckInstall(InstallRule::Stage::kObjects, o, m.candidate)) return std::nullopt;
  auto lacking = LackingRightsOf(ctx, o, m);
  if (!lacking.ok()) return NotAccepted(reason::kAPIServerUnavailable, lacking.error());
  if (*lacking) {
    m.candidate.lacking = std::move(**lacking);
    if (m.candidate.lacking.all_asked) m.candidate.sight = Sight::kGiven;
  }
  if (auto hold = CheckInstall(InstallRule::Stage::kRights, o, m.candidate)) return hold;
  return CheckInstall(InstallRule::Stage::kObjects, o, m.candidate);
}

// CRDs that somebody else has put there (Helm, say) may have objects, and workloads serve them: over these even a first
// installation is a change (U2, U3). It still is one after it was broken off: what runs then may be what ran before,
// taken over or not (U7). Its own CRDs, without a workload, serve nobody, and its own pods needn't run for the rest.
Result<bool> Installer::IsFirst(const Context& ctx, const Observation& o, const Installation& m, bool untouched) {
  if (o.former) return true;
  const bool goes_on = o.inventory.size() > 0 && o.provider.status.installed_version.empty();
  if (!untouched && !(goes_on && !LeavesPods(o.inventory) && !SwitchesAny(m.manifests, m.live))) return false;
  return !TRY(AnyWorkloadIsThere(ctx, needs_.client, m.manifests, goes_on ? &o.provider.status : nullptr));
}

std::optional<Hold> Installer::ReadLiveCrds(const Context& ctx, const Observation& o, Installation& m) {
  for (const auto& manifest : m.manifests) {
    if (!IsCrd(manifest.id)) continue;
    auto live = needs_.observer.LiveCrd(ctx, o.provider.id.Key(), manifest);
    if (!live.ok()) return NotAnswered(live.error());
    if (*live) m.live[manifest.id.name] = **live;
  }
  return std::nullopt;
}

// U3: where the objects of a CRD that loses their version can be brought to another one, they are.
std::optional<Hold> Installer::CheckStoredVersions(const Observation& o, Installation& m) {
  m.candidate.lost_versions = LostVersions(m.manifests, m.live);
  if (m.candidate.lost_versions.empty()) return std::nullopt;
  if (auto hold = CheckInstall(InstallRule::Stage::kStoredVersions, o, m.candidate)) return hold;
  const LostVersion& lost = m.candidate.lost_versions.front();
  return StoredVersionsHold(o, lost, m.candidate.version.ToString(),
                            needs_.migrations.Ask(o.provider.id.Key(), m.live[lost.crd], !AppliesAtZero(o)));
}

}  // namespace capi::ops
