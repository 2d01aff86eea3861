// `clusterctl get kubeconfig`: how to reach a workload cluster.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct GetKubeconfigOptions {
  ClusterOptions cluster;
  std::vector<std::string> names;  // exactly one
  std::string ns;
};

Status GetKubeconfig(const Context& ctx, const GlobalOptions& global, const GetKubeconfigOptions& options,
                     World& world);

}  // namespace capi::cli
