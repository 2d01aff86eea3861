// The management cluster that these commands work with: a local plane's, or any other.
#pragma once

#include <memory>
#include <string>

#include "cli/frame/command_line.h"
#include "cli/frame/config.h"
#include "cli/frame/management_cluster.h"

namespace capi::cli::local_clusters {

// The flags. A value.
struct TargetOptions {
  std::string dir;         // --dir: the folder of a local plane
  ClusterOptions cluster;  // --kubeconfig, --kubeconfig-context
};

// --dir, --kubeconfig and --kubeconfig-context. `options` must outlive the tree.
void AddTargetFlags(CommandLine& line, CLI::App& command, TargetOptions& options);

// DIR/kubeconfig for --dir, else what the other flags say. kInvalidArgument for both; kNotFound for a folder without a
// kubeconfig.
Result<ClusterOptions> ClusterOf(const TargetOptions& options);

// Opened, and of the contract that this program works with.
Result<ManagementCluster> OpenTarget(const Context& ctx, const ClusterOptions& cluster, World& world);

}  // namespace capi::cli::local_clusters
