// One run of `local apply`: its stages.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/frame/live_lines.h"
#include "cli/frame/management_cluster.h"
#include "cli/local_clusters/manifest_folder.h"
#include "cli/local_clusters/patience.h"
#include "cli/local_clusters/stages.h"
#include "cli/local_clusters/watch.h"

namespace capi::cli::local_clusters {

// What a run begins with. A value.
struct Plan {
  std::string folder;      // of the manifests
  std::string kubeconfig;  // for hooks
  bool is_planes = false;  // it is the plane's own
  std::vector<Manifest> manifests;
  FilledIn filled;
  Hooks hooks;
  Timeouts timeouts;
};

// Thread-compatible.
class Run {
 public:
  // `cluster` and `world` must outlive it.
  Run(Plan plan, ManagementCluster& cluster, World& world);

  // All stages, in their order. What was applied is written back after each, also after one that failed. No error, and
  // nothing that is said meanwhile, has a value that was filled in, nor have the words of hooks.
  Status Go(const Context& ctx);
  // The Clusters of the manifests.
  const std::vector<ClusterName>& clusters() const { return clusters_; }

 private:
  Status Do(const Context& ctx, Stage stage);
  Status DoInfrastructure(const Context& ctx);
  Status DoMachines(const Context& ctx);
  Status DoIgnition(const Context& ctx);
  // Takes those out of `secrets` that the cluster has, but for what the hook has printed.
  Status LeaveThoseThatAreThere(const Context& ctx, const std::set<kube::ObjectId>& taken,
                                std::vector<Manifest>& secrets);
  // Runs the stage's hook on these objects; "" where it has none.
  Result<std::string> CallHook(const Context& ctx, Stage stage, const std::vector<kube::Object>& objects);
  void Split();
  Status ApplyAll(const Context& ctx, std::vector<Manifest>& manifests);
  Result<kube::Object> ApplyOne(const Context& ctx, const kube::Object& object);
  // kInvalidArgument for an object that is there twice once those without a namespace have the current one.
  Status CheckTwins() const;
  // kFailedPrecondition for a Cluster that is being deleted, or paused unless its manifest resumes it; with `made` for
  // one that is gone, paused or failed.
  Status CheckGoing(const Context& ctx, bool made);
  // Whether the manifest says spec.paused: false, and nothing else holds the Cluster.
  bool Resumes(const kube::Object& live) const;
  // The words of a hook, without values that were filled in.
  void TellWords(std::string_view words);
  // Says why `what` has to wait.
  Say Waiting(const std::string& what);
  Error Hidden(Error error) const;
  // Those of these manifests as they are now, without those that aren't there.
  Result<std::vector<Manifest>> Live(const Context& ctx, const std::vector<Manifest>& manifests);
  Status WriteBack(const Context& ctx);
  Status CheckBootstrap(const Context& ctx);
  // As it is now; nullopt where it isn't there. `what` is told where it waits.
  Result<std::optional<kube::Object>> LiveOf(const Context& ctx, const kube::Object& object, const std::string& what);
  // A Machine that is there, which has begun with its bootstrap Secret. What makes machines reads the Secret for each
  // new one.
  Result<bool> HasBegun(const Context& ctx, const kube::Object& object);
  // Their objects of Cluster API and its providers, without the Clusters themselves.
  std::vector<kube::ObjectId> Watched(bool machines) const;
  // Which objects say that they have failed, before this run has changed anything.
  Status SeeFailures(const Context& ctx);
  // Until the judge says so; a failure that was there before isn't one of what this run has changed.
  Status Await(const Context& ctx, const Judge& judge, const std::string& what);

  Plan plan_;
  const Hider hider_;  // of what was filled in
  ManagementCluster& cluster_;
  World& world_;
  Notes notes_;
  LiveLines lines_;
  ClusterWatch watch_;
  std::vector<ClusterName> clusters_;
  std::vector<Manifest> infrastructure_, secrets_, machines_;  // of plan_.manifests, by stage
  std::set<std::string> failed_before_;                        // uids
  bool began_ = false;                                         // something was applied
  bool changed_ = false;                                       // and isn't what it was before
};

}  // namespace capi::cli::local_clusters
