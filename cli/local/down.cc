#include "cli/local/down.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/strings.h"
#include "cli/frame/management_cluster.h"
#include "cli/local/place.h"
#include "cli/local/start.h"
#include "local/plane/plane_lock.h"

namespace capi::cli {
namespace {

constexpr Seconds kToAsk{20};
constexpr Millis kPause{100};
constexpr size_t kMostNamed = 10;

// An API server that has just begun answers, and knows none of the kinds that its etcd has.
Status AwaitReady(const Context& ctx, kube::Client& client) {
  for (;;) {
    const auto ready = client.Raw(ctx, "GET", "/readyz", "", "", "text/plain");
    if (ready.ok()) return Ok();
    if (!ready.error().Transient() || !ctx.Check().ok() || !ctx.clock->Sleep(ctx.stop, kPause)) return ready.error();
  }
}

Result<std::vector<std::string>> ClustersOf(const Context& ctx, const local::PlaneFolder& folder,
                                            const Getenv& getenv) {
  std::vector<std::string> out;
  auto cluster = ManagementCluster::Open({folder.OwnKubeconfig(), ""}, getenv);
  if (!cluster.ok() && cluster.code() == Code::kNotFound) {
    std::error_code error;  // what can't be looked at may be there
    if (!std::filesystem::exists(folder.Etcd() + "/member", error) && !error) return out;
    return cluster.error().With("`clusterctl local up" + DirFlag(folder, getenv) + "` makes its kubeconfig anew");
  }
  if (!cluster.ok()) return cluster.error();
  TRY(AwaitReady(ctx, cluster->client()));
  auto resource = cluster->client().mapper().For(ctx, {"cluster.x-k8s.io", "Cluster"});
  if (!resource.ok() && resource.code() == Code::kNotFound) return out;
  if (!resource.ok()) return resource.error();
  kube::ObjectList all = TRY(cluster->client().List(ctx, *resource, "", {.metadata_only = true}));
  for (const kube::Object& one : all.items) out.push_back(one.ns() + "/" + one.name());
  return out;
}

// With the plane's data goes all that anybody knows of a Cluster's machines. Only a plane that runs can be asked.
Status CheckHasNoClusters(const Context& ctx, const local::PlaneFolder& folder, const Getenv& getenv) {
  if (!TRY(local::SupervisorOf(folder.Lock()))) return Ok();
  const std::string flag = DirFlag(folder, getenv);  // else a copy of these words would end another plane
  const std::string all_the_same = fmt::format(
      "To lose them all the same: `clusterctl local down{0}` first, and then `clusterctl local down --delete{0}`, "
      "which "
      "asks no more",
      flag);
  auto clusters = ClustersOf(ctx.WithTimeout(kToAsk), folder, getenv);
  if (!clusters.ok())
    return Error{
        Code::kFailedPrecondition,
        fmt::format("nothing is ended or deleted: the plane can't be asked whether it still has Clusters ({}). "
                    "{}",
                    clusters.error().message, all_the_same),
        {}};
  if (clusters->empty()) return Ok();
  return Error{
      Code::kFailedPrecondition,
      fmt::format("nothing is ended or deleted: the plane still has Clusters ({1}), and without it nobody knows "
                  "their machines. Delete them with `clusterctl local destroy{0}`, or move them with "
                  "`clusterctl local move{0}`. {2}",
                  flag, JoinNames(*clusters, kMostNamed), all_the_same),
      {}};
}

}  // namespace

Status LocalDown(const Context& ctx, const LocalDownOptions& options, World& world) {
  auto folder = OpenPlane(options.folder, world.getenv);
  const std::string none = "There is no plane: " + TRY(PlaneFolderPath(options.folder, world.getenv)) + "\n";
  if (!folder.ok() && folder.code() == Code::kNotFound) {
    world.out << none;
    return Ok();
  }
  if (!folder.ok()) return folder.error();
  if (options.deletes) TRY(CheckHasNoClusters(ctx, *folder, world.getenv));
  // The lock stays until all is written: nobody starts the plane meanwhile.
  const auto stopped = StopPlane(ctx, *folder, world.getenv);
  if (!stopped.ok() && !folder->CheckIsThere().ok()) {  // another `down --delete` was faster
    world.out << none;
    return Ok();
  }
  if (!stopped.ok()) return stopped.error();
  const std::string ended = stopped->ran ? "The plane has ended" : "The plane doesn't run";
  if (!options.deletes && folder->IsHalfDeleted()) {
    world.out << fmt::format(
        "{}; what an interrupted `down --delete` has left in {} is deleted by `local down --delete`, or by the next "
        "`local up`\n",
        ended, folder->path());
    return Ok();
  }
  if (!options.deletes) {
    world.out << fmt::format("{}; its data is kept in {}\n", ended, folder->path());
    return Ok();
  }
  const bool gone = TRY(folder->Remove());
  world.out << fmt::format("{}, and its data is deleted{}\n", ended,
                           gone ? "" : fmt::format("; {} has other files in it, and stays", folder->path()));
  return Ok();
}

}  // namespace capi::cli
