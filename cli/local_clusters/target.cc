#include "cli/local_clusters/target.h"

#include <fmt/format.h>
#include <unistd.h>

namespace capi::cli::local_clusters {

void AddTargetFlags(CommandLine& line, CLI::App& command, TargetOptions& options) {
  command.add_option("--dir", options.dir, "Folder of the local plane, whose kubeconfig is used");
  line.AddClusterFlags(command, options.cluster);
}

Result<ClusterOptions> ClusterOf(const TargetOptions& options) {
  if (options.dir.empty()) return options.cluster;
  if (!options.cluster.kubeconfig.empty())
    return Error{Code::kInvalidArgument, "--dir and --kubeconfig don't go together: name one of them", {}};
  ClusterOptions out = options.cluster;
  out.kubeconfig = options.dir + "/kubeconfig";
  if (access(out.kubeconfig.c_str(), R_OK) == 0) return out;
  return Error{Code::kNotFound,
               fmt::format("{} isn't there: run `clusterctl local up --dir {}` first", out.kubeconfig, options.dir),
               {}};
}

Result<ManagementCluster> OpenTarget(const Context& ctx, const ClusterOptions& cluster, World& world) {
  ManagementCluster out = TRY(ManagementCluster::Open(cluster, world.getenv));
  TRY(out.CheckContract(ctx, AlsoAllowed::kNothing));
  return out;
}

}  // namespace capi::cli::local_clusters
