// The tree of a cluster as a program reads it. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/describe/cluster_node.h"

namespace capi::cli::describe {

// Of each node what is known: kind, name, role, counts, conditions, the members of a group, and "children".
Json ClusterTreeJson(const ClusterNode& root);
// Its objects, those in groups too, as kubectl takes them: "machine.cluster.x-k8s.io/a".
std::vector<std::string> ClusterTreeNames(const ClusterNode& root);

}  // namespace capi::cli::describe
