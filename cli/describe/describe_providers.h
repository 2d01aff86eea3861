// `clusterctl describe providers`: the operator and the providers of a management cluster as a tree.
#pragma once

#include <optional>
#include <string>

#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct DescribeProvidersOptions {
  ClusterOptions cluster;
  std::string ns;  // "" for all
  std::string output = "table";
  std::optional<bool> colour;
};

// behaviour.md L16.
Status DescribeProviders(const Context& ctx, const GlobalOptions& global, const DescribeProvidersOptions& options,
                         World& world);

}  // namespace capi::cli
