// The tree of a cluster: its objects, in, and who stands below whom, out. Pure, but for what it asks for on the way.
#pragma once

#include <functional>
#include <vector>

#include "cli/describe/cluster_node.h"

namespace capi::cli::describe {

// A value.
struct ClusterParts {
  Cluster cluster;
  std::vector<MachineObject> machines, deployments, sets, pools;
  std::optional<std::vector<std::string>> resource_sets;  // names; nullopt where none was ever bound to the cluster
};

// A control plane, and the template of its machines. A value.
struct ControlPlane {
  ClusterObject object;
  Reference machine_template;
};

// Gives the objects of providers, one by one, as the tree comes to need them: those of a machine in a group are never
// asked for. Thread-compatible.
class Externals {
 public:
  virtual ~Externals() = default;
  // Null where it isn't there, or can't be read.
  virtual const ClusterObject* Get(const Reference& reference) = 0;
  virtual const ControlPlane* GetControlPlane(const Reference& reference) = 0;
};

ClusterNode BuildClusterTree(const ClusterParts& parts, const TreeOptions& options, Externals& externals);

}  // namespace capi::cli::describe
