// `clusterctl preload`: releases as ConfigMaps, for an operator that reaches no source of them.
#pragma once

#include "cli/airgap/collect.h"
#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct PreloadOptions {
  ClusterOptions cluster;
  CollectOptions collect;
  std::string output;   // "yaml", "json"; "": into the cluster, unless there is a file
  std::string to_file;  // instead of standard output
};

// behaviour.md L25.
Status Preload(const Context& ctx, const GlobalOptions& global, const PreloadOptions& options, World& world);

}  // namespace capi::cli
