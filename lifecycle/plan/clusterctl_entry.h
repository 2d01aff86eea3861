// One provider as clusterctl's inventory has it.
#pragma once

#include <string>

#include "api/kinds.h"

namespace capi::lifecycle {

// An entry of clusterctl's inventory (lifecycle/clusterctl_inventory.h). A value.
struct ClusterctlEntry {
  api::ProviderId id;  // its namespace is that of the components
  std::string version;
  bool ours = false;  // this operator wrote it
};

}  // namespace capi::lifecycle
