// A node of the tree of a cluster, and what becomes of an object that is put below another: a node of its own, a part
// of a group of its like, or nothing where it only repeats what stands above it. Pure.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/describe/cluster_object.h"
#include "cli/describe/condition_filter.h"

namespace capi::cli::describe {

enum class NodeKind {
  kCluster,
  kControlPlane,
  kMachineDeployment,
  kMachineSet,
  kMachine,
  kMachinePool,
  kExternal,   // of a provider
  kReference,  // of which the name alone is known
  kVirtual,    // no object: "Workers"
  kGroup,      // several objects of one kind that are in the same state
};

// Thread-compatible.
struct ClusterNode {
  NodeKind node_kind = NodeKind::kVirtual;
  ClusterObject object;
  std::string role;     // what it is for its parent: "ControlPlane"
  int z_order = 0;      // of the children of a node those with a higher one come first
  bool groups = false;  // whether children that are alike become one
  ShowConditions shown = ShowConditions::kNone;
  std::vector<std::string> items;  // the names in a group
  std::vector<std::unique_ptr<ClusterNode>> children;
  std::map<std::string, size_t> states;  // where `groups`: which child has which state, until they are sorted
};

// A value.
struct TreeOptions {
  ConditionFilter conditions;
  bool machine_sets = false, resource_sets = false, templates = false, echo = false;
  bool grouping = true;
  ConditionStyle style = ConditionStyle::kV1Beta2;
};

// A value.
struct NodeTraits {
  NodeKind node_kind = NodeKind::kExternal;
  std::string role = {};
  bool groups = false;   // where groups are wanted at all
  bool no_echo = false;  // left out where it is ready, or says what its parent says
  int z_order = 0;
};

// Null where the object has become a part of a group, or is left out.
ClusterNode* AddNode(ClusterNode& parent, ClusterObject object, NodeTraits traits, const TreeOptions& options);

// What the node is called in a tree: "Machine/a", "3 Machines...", "Workers"; without its role, and what else stands
// before it.
std::string NodeName(const ClusterNode& node);

// In the order in which they are shown, all the way down.
void SortChildren(ClusterNode& node);

}  // namespace capi::cli::describe
