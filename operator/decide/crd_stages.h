// Whether a render has rolled out, and what holds back one whose CRDs lack a version (behaviour.md U2, U3). Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/apply/inventory.h"
#include "kube/apply/manifest.h"
#include "lifecycle/plan/crd_stages.h"
#include "operator/decide/hold.h"
#include "operator/decide/observation.h"

namespace capi::ops {

using lifecycle::CrdStates;
using lifecycle::LostVersion;
using lifecycle::LostVersions;
using lifecycle::PlanStages;
using lifecycle::StagePlan;
using lifecycle::SwitchesAny;
using lifecycle::TakeSwitchingCrds;
using lifecycle::TransitionalCrd;

// Every workload of the render is applied as it is there, healthy, and the only one left.
bool RolledOut(const std::vector<kube::Manifest>& manifests, const kube::Inventory& applied, const Fleet& fleet);

// Whether condition StorageMigrated says that something is to be migrated.
bool SaysUnmigrated(const api::ProviderStatus& status);
// Whether it says that that failed.
bool SaysMigrationFailed(const api::ProviderStatus& status);

// Before the first write: the release can't come as it is (U3).
// `migration` is how it stands where the way out is one.
Hold StoredVersionsHold(const Observation& o, const LostVersion& lost, std::string_view release_version,
                        const MigrationProgress& migration);

}  // namespace capi::ops
