// What of a new render may be sent while the old pods still serve, and which versions of its CRDs must stay
// (behaviour.md U2, U3). Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/apply/inventory.h"
#include "kube/apply/manifest.h"
#include "operator/decide/hold.h"
#include "operator/decide/observation.h"

namespace capi::ops {

using CrdStates = std::map<std::string, CrdState>;  // live CRDs by name

// Every workload of the render is applied as it is there, healthy, and the only one left.
bool RolledOut(const std::vector<kube::Manifest>& manifests, const kube::Inventory& applied, const Fleet& fleet);

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

// Whether condition StorageMigrated says that something is to be migrated.
bool SaysUnmigrated(const api::ProviderStatus& status);

// Before the first write: the release can't come as it is (U3).
// `migration` is how it stands where the way out is one.
Hold StoredVersionsHold(const Observation& o, const LostVersion& lost, std::string_view release_version,
                        const MigrationProgress& migration);

}  // namespace capi::ops
