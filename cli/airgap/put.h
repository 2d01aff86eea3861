// Brings releases into the cluster.
#pragma once

#include "cli/airgap/collect.h"
#include "cli/frame/world.h"

namespace capi::cli {

// Their ConfigMaps, and the namespaces that are missing for them. Equal ones are left alone. All are looked at before
// the first is written: kFailedPrecondition where one of such a name, or that the operator takes now for the same
// version, has another release. Says on `world.out` what it made.
Status PutIntoCluster(const Context& ctx, ManagementCluster& cluster, const std::vector<CollectedRelease>& releases,
                      World& world);

}  // namespace capi::cli
