// In which order the objects of a new release come, so that what runs understands what is there (behaviour.md U2, U3).
// Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/apply/inventory.h"
#include "kube/apply/manifest.h"
#include "lifecycle/plan/crd_state.h"

namespace capi::lifecycle {

using CrdStates = std::map<std::string, CrdState>;  // live CRDs by name

// Its content is what was applied before, so nothing changes for anyone.
bool IsApplied(const kube::Manifest& manifest, const kube::Inventory& applied);

// A value.
struct StagePlan {
  std::vector<kube::Manifest> now;
  size_t later = 0;  // objects that follow when the workloads have rolled out
};
// CRDs that change the version that they store keep the old one, webhook configurations that changed wait: both are
// what the old pods understand. The entry in clusterctl's inventory waits with them. `applied` is the inventory before
// this change, so that an object that was lost comes back at once.
StagePlan PlanStages(std::vector<kube::Manifest> manifests, const kube::Inventory& applied, const CrdStates& live);

// Takes from `manifests` the CRDs that switch the version that they store, or stop serving one: they come last of all.
std::vector<kube::Manifest> TakeSwitchingCrds(std::vector<kube::Manifest>& manifests, const kube::Inventory& applied,
                                              const CrdStates& live);

// The CRD with all versions of `desired`, but stored and served as `live` is. nullopt: that is the same.
std::optional<kube::Manifest> TransitionalCrd(const kube::Manifest& desired, const CrdState& live);

// Whether any of the CRDs would store another version than it does, or stop serving one.
bool SwitchesAny(const std::vector<kube::Manifest>& manifests, const CrdStates& live);

// A version at which objects may be stored, and that a new CRD no longer has.
struct LostVersion {
  std::string crd, version;
  bool migratable = false;  // the version that is stored now stays: objects can be brought to it first
};
std::vector<LostVersion> LostVersions(const std::vector<kube::Manifest>& manifests, const CrdStates& live);

// What has to be migrated before these CRDs may come, by name; kFailedPrecondition, in clusterctl's words, where that
// is no way out: a CRD stores at a version that the new one hasn't, or says none.
Result<std::vector<std::string>> ToMigrate(const std::vector<kube::Manifest>& manifests, const CrdStates& live);

}  // namespace capi::lifecycle
