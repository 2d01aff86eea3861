// One provider as clusterctl's inventory has it.
#pragma once

#include <string>

#include "api/kinds.h"
#include "kube/meta/object.h"

namespace capi::lifecycle {

inline constexpr std::string_view kEntryGroup = "clusterctl.cluster.x-k8s.io", kEntryKind = "Provider";

inline bool IsEntry(const kube::ObjectId& id) { return id.group == kEntryGroup && id.kind == kEntryKind; }

// An entry of clusterctl's inventory (lifecycle/clusterctl_inventory.h). A value.
struct ClusterctlEntry {
  api::ProviderId id;  // its namespace is that of the components
  std::string version;
  bool ours = false;  // this operator wrote it
};

}  // namespace capi::lifecycle
