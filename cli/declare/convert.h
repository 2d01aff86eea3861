// `clusterctl convert`: what runs in a management cluster, as files for a GitOps repository.
#pragma once

#include <string>

#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct ConvertOptions {
  ClusterOptions cluster;
  std::string output_dir;  // "" for standard output
};

// behaviour.md L20. Nothing in the cluster is changed, and no value of a Secret is written.
Status Convert(const Context& ctx, const GlobalOptions& global, const ConvertOptions& options, World& world);

}  // namespace capi::cli
