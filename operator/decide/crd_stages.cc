#include "operator/decide/crd_stages.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/reasons.h"
#include "base/json.h"
#include "operator/decide/pause.h"

namespace capi::ops {
namespace {

bool Has(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool IsCrd(const kube::Manifest& manifest) { return kube::StageOf(manifest.id.group_kind()) == kube::Stage::kCrds; }

// Its content is what was applied before, so nothing changes for anyone.
bool IsApplied(const kube::Manifest& manifest, const kube::Inventory& applied) {
  const kube::InventoryEntry* entry = applied.Find(manifest.id);
  return entry != nullptr && entry->hash == manifest.hash && !entry->stale;
}

const CrdState* LiveOf(const kube::Manifest& manifest, const CrdStates& live) {
  auto it = live.find(manifest.id.name);
  return it == live.end() ? nullptr : &it->second;
}

}  // namespace

bool RolledOut(const std::vector<kube::Manifest>& manifests, const kube::Inventory& applied, const Fleet& fleet) {
  for (const auto& manifest : manifests) {
    if (kube::StageOf(manifest.id.group_kind()) != kube::Stage::kWorkloads) continue;
    if (!IsApplied(manifest, applied)) return false;
  }
  return fleet.rolled_out();
}

StagePlan PlanStages(std::vector<kube::Manifest> manifests, const kube::Inventory& applied, const CrdStates& live) {
  StagePlan plan;
  plan.now.reserve(manifests.size());
  for (auto& manifest : manifests) {
    bool changed = !IsApplied(manifest, applied);
    if (changed && kube::StageOf(manifest.id.group_kind()) >= kube::Stage::kWebhooks) {
      ++plan.later;
      continue;
    }
    const CrdState* crd = changed && IsCrd(manifest) ? LiveOf(manifest, live) : nullptr;
    auto transitional = crd == nullptr ? std::nullopt : TransitionalCrd(manifest, *crd);
    if (transitional) ++plan.later;
    plan.now.push_back(transitional ? std::move(*transitional) : std::move(manifest));
  }
  return plan;
}

std::vector<kube::Manifest> TakeSwitchingCrds(std::vector<kube::Manifest>& manifests, const kube::Inventory& applied,
                                              const CrdStates& live) {
  std::vector<kube::Manifest> rest, switching;
  for (auto& manifest : manifests) {
    const CrdState* crd = IsCrd(manifest) && !IsApplied(manifest, applied) ? LiveOf(manifest, live) : nullptr;
    bool last = crd != nullptr && TransitionalCrd(manifest, *crd).has_value();
    (last ? switching : rest).push_back(std::move(manifest));
  }
  manifests = std::move(rest);
  return switching;
}

std::optional<kube::Manifest> TransitionalCrd(const kube::Manifest& desired, const CrdState& live) {
  bool switches = desired.crd_storage != live.storage && Has(desired.crd_all, live.storage);
  bool stops = std::any_of(live.served.begin(), live.served.end(), [&](const std::string& version) {
    return Has(desired.crd_all, version) && !Has(desired.crd_versions, version);
  });
  if (!switches && !stops) return std::nullopt;
  auto json = ParseJson(desired.text);
  if (!json.ok()) return std::nullopt;  // it was printed by us
  Json* versions = Find(*json, {"spec", "versions"});
  if (versions == nullptr) return std::nullopt;
  for (Json& version : *versions) {
    std::string name = GetString(version, {"name"});
    if (switches) version["storage"] = name == live.storage;
    if (Has(live.served, name)) version["served"] = true;
  }
  return kube::ToManifest(kube::Object(std::move(json).value()));
}

bool SwitchesAny(const std::vector<kube::Manifest>& manifests, const CrdStates& live) {
  return std::any_of(manifests.begin(), manifests.end(), [&](const kube::Manifest& manifest) {
    const CrdState* crd = IsCrd(manifest) ? LiveOf(manifest, live) : nullptr;
    return crd != nullptr && TransitionalCrd(manifest, *crd).has_value();
  });
}

std::vector<LostVersion> LostVersions(const std::vector<kube::Manifest>& manifests, const CrdStates& live) {
  std::vector<LostVersion> lost;
  for (const auto& manifest : manifests) {
    const CrdState* crd = IsCrd(manifest) ? LiveOf(manifest, live) : nullptr;
    if (crd == nullptr) continue;
    for (const std::string& version : crd->stored) {
      if (Has(manifest.crd_all, version)) continue;
      lost.push_back({crd->name, version, version != crd->storage && Has(manifest.crd_all, crd->storage)});
    }
  }
  return lost;
}

bool SaysUnmigrated(const api::ProviderStatus& status) {
  const auto* migrated = kube::FindCondition(status.conditions, api::condition::kStorageMigrated);
  return migrated != nullptr && migrated->status == "False";
}

Hold StoredVersionsHold(const Observation& o, const LostVersion& lost, std::string_view release_version,
                        const MigrationProgress& migration) {
  Hold hold{std::string(api::condition::kPreflightCheckPassed), std::string(api::reason::kStoredVersionsInUse),
            fmt::format("{} {} has no version {} of {}, at which objects may still be stored: nothing is changed; ",
                        o.provider.id.ToString(), release_version, lost.version, lost.crd)};
  if (!lost.migratable) {
    hold.message += fmt::format(
        "go by a version of the provider whose {} has both {} and the newer version, let its objects migrate "
        "(condition StorageMigrated), then set this version",
        lost.crd, lost.version);
  } else if (AppliesAtZero(o)) {  // nobody converts (P3)
    hold.message += fmt::format("set {}spec.version to what is installed, let the objects migrate, then upgrade",
                                o.provider.spec.paused ? "spec.paused to false and " : "");
  } else if (migration.error) {
    hold.message += "they could not be brought to the version that is stored now: " + migration.error->message;
    hold.retry = migration.next ? Retry::kAt : Retry::kWaiting;  // while it is tried again, its end is the event
    hold.after = migration.next;
  } else {
    hold.message += fmt::format("they are brought to the version that is stored now, {} so far; this then goes on",
                                migration.objects);
    hold.retry = Retry::kWaiting;
  }
  return hold;
}

}  // namespace capi::ops
