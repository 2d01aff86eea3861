#include "cli/local_clusters/target.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "cli/local/place.h"

namespace capi::cli::local_clusters {
namespace {

bool IsUsual(const std::string& plane, const Getenv& getenv) {
  namespace fs = std::filesystem;
  auto whole = [](const std::string& path) {
    std::error_code none;
    return (fs::absolute(path, none) / "").lexically_normal();
  };
  auto usual = PlaneFolderPath("", getenv);
  return usual.ok() && whole(*usual) == whole(plane);
}

// Paths are told as they were given.
std::string FlagsOf(const Target& target, const Getenv& getenv) {
  std::string out;
  auto add = [&](std::string_view flag, const std::string& value) {
    if (!value.empty()) out += fmt::format(" --{} {}", flag, local::ShellQuote(value));
  };
  if (target.plane.empty()) {
    add("kubeconfig", target.cluster.kubeconfig);
  } else if (!IsUsual(target.plane, getenv)) {
    add("dir", target.plane);
  }
  add("kubeconfig-context", target.cluster.context);
  return out;
}

}  // namespace

void AddTargetFlags(CommandLine& line, CLI::App& command, TargetOptions& options) {
  AddFolderFlag(line, command, options.dir);
  command.add_option("--kubeconfig", options.cluster.kubeconfig,
                     "The kubeconfig of another management cluster than the plane");
  command.add_option("--kubeconfig-context", options.cluster.context,
                     "The context to use of it; without it the current one");
}

Result<std::string> PlaneOf(const TargetOptions& options, const Getenv& getenv) {
  if (options.cluster.kubeconfig.empty()) return PlaneFolderPath(options.dir, getenv);
  if (options.dir.empty()) return std::string();
  return Error{Code::kInvalidArgument, "--dir and --kubeconfig don't go together: name one of them", {}};
}

Result<Target> TargetOf(const TargetOptions& options, const Getenv& getenv) {
  std::string plane = TRY(PlaneOf(options, getenv));
  Target out{options.cluster, std::move(plane), ""};
  out.flags = FlagsOf(out, getenv);
  if (out.plane.empty()) return out;
  out.cluster.kubeconfig = out.plane + "/" + local::PlaneFolder::kOwnKubeconfig;
  if (access(out.cluster.kubeconfig.c_str(), R_OK) == 0) return out;
  const bool named = !options.dir.empty();
  return Error{Code::kNotFound,
               fmt::format("{} isn't there: run `clusterctl local up{}` first, or name another management cluster "
                           "with --kubeconfig",
                           out.cluster.kubeconfig, named ? " --dir " + local::ShellQuote(out.plane) : ""),
               {}};
}

Result<ManagementCluster> OpenTarget(const Context& ctx, const ClusterOptions& cluster, World& world) {
  ManagementCluster out = TRY(ManagementCluster::Open(cluster, world.getenv));
  TRY(out.CheckContract(ctx, AlsoAllowed::kNothing));
  return out;
}

}  // namespace capi::cli::local_clusters
