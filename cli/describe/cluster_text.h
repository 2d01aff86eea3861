// The tree of a cluster as a person reads it. Pure.
#pragma once

#include <string>

#include "cli/describe/cluster_node.h"

namespace capi::cli::describe {

// A value.
struct TextOptions {
  ConditionStyle style = ConditionStyle::kV1Beta2;
  bool colours = false;
  WallTime now;
};

std::string ClusterTreeText(const ClusterNode& root, const TextOptions& options);

}  // namespace capi::cli::describe
