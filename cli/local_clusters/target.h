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
  std::string dir;         // --dir: the folder of a local plane; "" for the user's own
  ClusterOptions cluster;  // --kubeconfig, --kubeconfig-context
};

// --dir, --kubeconfig and --kubeconfig-context. `options` must outlive the tree.
void AddTargetFlags(CommandLine& line, CLI::App& command, TargetOptions& options);

// Which cluster, and where its plane is. A value.
struct Target {
  ClusterOptions cluster;
  std::string plane;  // folder of the local plane; "" where it is another cluster
  std::string flags;  // " --dir PATH" for a command that a person is told; "" where it means the same without
};

// What --kubeconfig names, else the plane of --dir, or the user's own. kInvalidArgument for both; kNotFound for a
// folder without a kubeconfig.
Result<Target> TargetOf(const TargetOptions& options, const Getenv& getenv);

// The plane's folder of these flags, whether or not it is there; "" where they name a kubeconfig. Errors as TargetOf.
Result<std::string> PlaneOf(const TargetOptions& options, const Getenv& getenv);

// Opened, and of the contract that this program works with.
Result<ManagementCluster> OpenTarget(const Context& ctx, const ClusterOptions& cluster, World& world);

}  // namespace capi::cli::local_clusters
