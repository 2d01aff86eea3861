#include "lifecycle/plan/crd_stages.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/text.h"
#include "base/json.h"

namespace capi::lifecycle {
namespace {

bool Has(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool IsCrd(const kube::Manifest& manifest) { return kube::StageOf(manifest.id.group_kind()) == kube::Stage::kCrds; }

const CrdState* LiveOf(const kube::Manifest& manifest, const CrdStates& live) {
  auto it = live.find(manifest.id.name);
  return it == live.end() ? nullptr : &it->second;
}

}  // namespace

bool IsApplied(const kube::Manifest& manifest, const kube::Inventory& applied) {
  const kube::InventoryEntry* entry = applied.Find(manifest.id);
  return entry != nullptr && entry->hash == manifest.hash && !entry->stale;
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

Result<std::vector<std::string>> ToMigrate(const std::vector<kube::Manifest>& manifests, const CrdStates& live) {
  for (const auto& manifest : manifests) {
    const CrdState* crd = IsCrd(manifest) ? LiveOf(manifest, live) : nullptr;
    if (crd == nullptr || !crd->storage.empty()) continue;
    return Error{Code::kFailedPrecondition,
                 fmt::format("could not find storage version for CRD {}", api::GoQuote(crd->name)),
                 {}};
  }
  std::vector<std::string> out;
  for (const LostVersion& lost : LostVersions(manifests, live)) {
    if (!lost.migratable) {
      return Error{
          Code::kFailedPrecondition,
          fmt::format("unable to upgrade CRD {} because the new CRD does not contain the storage version {} of "
                      "the current CRD, thus not allowing CR migration",
                      api::GoQuote(lost.crd), api::GoQuote(live.at(lost.crd).storage)),
          {}};
    }
    if (!Has(out, lost.crd)) out.push_back(lost.crd);
  }
  return out;
}

}  // namespace capi::lifecycle
