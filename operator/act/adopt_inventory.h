// Provider objects for what clusterctl installed, on request (behaviour.md A1; flag --adopt-inventory).
#pragma once

#include <string>
#include <vector>

#include "base/context.h"
#include "kube/client/client.h"
#include "lifecycle/clusterctl_inventory.h"

namespace capi::ops {

using lifecycle::ClusterctlEntry;

// The entries that no Provider object stands for yet: not ours, of a version, in namespace `ns` ("" for all).
std::vector<ClusterctlEntry> WithoutProvider(const std::vector<ClusterctlEntry>& entries,
                                             const std::vector<api::ProviderId>& providers, const std::string& ns);

// Creates them, each at the installed version and in the namespace of its components; tries until that worked or `ctx`
// ends, after 5 s, 10 s and so on to 5 min. What becomes of them the controller decides.
void AdoptInventory(const Context& ctx, kube::Client& client, const std::string& ns);

}  // namespace capi::ops
