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
  bool watch = false;
};

// behaviour.md L16. With `watch`: until Ctrl-C, which is no error.
Status DescribeProviders(const Context& parent, const GlobalOptions& global, const DescribeProvidersOptions& options,
                         World& world);

}  // namespace capi::cli
