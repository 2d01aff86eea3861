#include "cli/local_clusters/apply.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/frame/interrupt.h"
#include "cli/frame/lookup.h"
#include "cli/local_clusters/collect.h"
#include "cli/local_clusters/run.h"

namespace capi::cli::local_clusters {
namespace {

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// Hooks and messages have whole paths: a hook may change its folder.
Result<std::string> WholePath(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return Error{Code::kNotFound, fmt::format("{} isn't there", path), {}};
  std::string out = resolved;
  free(resolved);  // NOLINT: realpath's
  return out;
}

// Those of flags, and those of the folder that no flag names another program for.
Result<Hooks> FindHooks(const ApplyOptions& options, const std::string& folder) {
  Hooks out;
  for (const auto& [stage, path] : TRY(ParseHooks(options.hooks))) {
    std::string whole = TRY_WITH(WholePath(path), fmt::format("--hook {}", InfoOf(stage).name));
    struct stat found {};
    const bool is_file = stat(whole.c_str(), &found) == 0 && S_ISREG(found.st_mode);
    if (!is_file || access(whole.c_str(), X_OK) != 0)
      return Invalid(fmt::format("--hook {}={}: it is no file that can be executed", InfoOf(stage).name, path));
    out[stage] = whole;
  }
  for (const std::string& name : TRY(ListHooks(folder))) out.emplace(*StageByName(name), folder + "/hooks/" + name);
  return out;
}

Result<Plan> MakePlan(const Context& ctx, const GlobalOptions& global, const ApplyOptions& options, World& world,
                      Notes& notes) {
  if (options.folders.size() != 1 || options.folders[0].empty())
    return Invalid("please specify the folder of the manifests");
  Plan plan;
  plan.timeouts = TRY(ParseTimeouts(options.timeouts));
  plan.folder = TRY(WholePath(options.folders[0]));
  plan.hooks = TRY(FindHooks(options, plan.folder));
  plan.manifests = TRY(ReadManifests(plan.folder));
  TRY(FirstCluster(plan.folder, plan.manifests));
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  Lookup lookup(config);
  Status filled = FillInAll(plan.manifests, lookup.function(), plan.filled);
  if (lookup.error()) return *lookup.error();
  TRY(filled);
  return plan;
}

// What helps to find out why, while it is still there.
void CollectAfter(const Context& ctx, ManagementCluster& cluster, const std::string& plane, const std::string& folder,
                  const Hider& hider, Notes& notes) {
  GatherInput input{plane, ArchiveName(folder, ctx.clock->Now()), hider};
  Status gathered = Gather(ctx.WithTimeout(Seconds(60)), &cluster, input);
  if (gathered.ok()) {
    notes.Say(0, fmt::format("Logs, objects and conditions are in {}", input.archive));
  } else {
    notes.Warn(
        fmt::format("logs and objects could not be collected: {}", hider.WithoutValues(gathered.error().message)));
  }
}

}  // namespace

Status Apply(const Context& parent, const GlobalOptions& global, const ApplyOptions& options, World& world) {
  Interrupt interrupt;
  Context ctx = parent.WithStop(interrupt.token());
  Notes notes(world.err);
  Plan plan = TRY(MakePlan(ctx, global, options, world, notes));
  Target target = TRY(TargetOf(options.target, world.getenv));
  // A hook's programs take the file's own current context: they would work with another cluster.
  if (!plan.hooks.empty() && !target.cluster.context.empty())
    return Invalid(
        "hooks and --kubeconfig-context don't go together, since programs take the current context of a kubeconfig: "
        "name a file with --kubeconfig whose current context is the cluster to work with");
  plan.kubeconfig = TRY(WholePath(target.cluster.kubeconfig));
  plan.is_planes = !target.plane.empty();
  ManagementCluster cluster = TRY(OpenTarget(ctx, target.cluster, world));
  const std::string folder = plan.folder;
  const Hider hider(plan.filled);
  Run run(std::move(plan), cluster, world);
  Status done = run.Go(ctx);
  if (done.ok()) {
    for (const ClusterName& one : run.clusters())
      world.out << fmt::format(
          "Cluster {}/{} is made. To wait until it is available: clusterctl local wait {} -n {}{}\n", one.ns, one.name,
          one.name, one.ns, target.flags);
    return Ok();
  }
  if (options.collect && !ctx.stop.stop_requested()) CollectAfter(ctx, cluster, target.plane, folder, hider, notes);
  return OrInterrupted(ctx, done);
}

}  // namespace capi::cli::local_clusters
