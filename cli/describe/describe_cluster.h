// `clusterctl describe cluster`: the objects of a workload cluster as a tree, with what each says of itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct DescribeClusterOptions {
  ClusterOptions cluster;
  std::vector<std::string> names;  // exactly one
  std::string ns;                  // "" for that of the context
  std::string show_conditions, output = "table";
  bool machine_sets = false, resource_sets = false, templates = false, echo = false;
  bool grouping = true, disable_grouping = false;
  std::optional<bool> v1beta2, colour;
};

// behaviour.md L15.
Status DescribeCluster(const Context& ctx, const GlobalOptions& global, const DescribeClusterOptions& options,
                       World& world);

// Whether what is written to standard output has colours: by the flag, and NO_COLOR in the environment takes
// precedence.
bool WantsColours(const std::optional<bool>& flag, const World& world);

}  // namespace capi::cli
