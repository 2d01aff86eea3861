// `clusterctl local manifests`: the objects of a workload cluster as numbered files, for editing.
#pragma once

#include <string>
#include <vector>

#include "cli/generate/generate_cluster.h"

namespace capi::cli::local_clusters {

// The flags. A value.
struct ManifestsOptions {
  GenerateClusterOptions generate;  // its target_namespace is "" for "default"
  std::string folder;
  std::vector<std::string> credentials, no_credentials;
};

// Asks no cluster, and no cloud. behaviour.md G10.
Status Manifests(const Context& ctx, const GlobalOptions& global, const ManifestsOptions& options, World& world);

}  // namespace capi::cli::local_clusters
