#include "cli/local_clusters/target.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/local/place.h"

namespace capi::cli::local_clusters {

void AddTargetFlags(CommandLine& line, CLI::App& command, TargetOptions& options) {
  AddFolderFlag(line, command, options.dir);
  command.add_option("--kubeconfig", options.cluster.kubeconfig,
                     "The kubeconfig of another management cluster than the plane");
  command.add_option("--kubeconfig-context", options.cluster.context,
                     "The context to use of it; without it the current one");
}

Result<Target> TargetOf(const TargetOptions& options, const Getenv& getenv) {
  Target out{options.cluster, ""};
  if (!options.cluster.kubeconfig.empty()) {
    if (options.dir.empty()) return out;
    return Error{Code::kInvalidArgument, "--dir and --kubeconfig don't go together: name one of them", {}};
  }
  out.plane = TRY(PlaneFolderPath(options.dir, getenv));
  out.cluster.kubeconfig = out.plane + "/" + local::PlaneFolder::kOwnKubeconfig;
  if (access(out.cluster.kubeconfig.c_str(), R_OK) == 0) return out;
  return Error{
      Code::kNotFound,
      fmt::format("{} isn't there: run `clusterctl local up --dir {}` first, or name another management cluster "
                  "with --kubeconfig",
                  out.cluster.kubeconfig, out.plane),
      {}};
}

Result<ManagementCluster> OpenTarget(const Context& ctx, const ClusterOptions& cluster, World& world) {
  ManagementCluster out = TRY(ManagementCluster::Open(cluster, world.getenv));
  TRY(out.CheckContract(ctx, AlsoAllowed::kNothing));
  return out;
}

}  // namespace capi::cli::local_clusters
