#include "cli/local_clusters/wait.h"

#include <fmt/format.h>

#include "cli/frame/interrupt.h"
#include "cli/local/durations.h"
#include "cli/local_clusters/stages.h"
#include "cli/local_clusters/watch.h"

namespace capi::cli::local_clusters {

Status Wait(const Context& parent, const GlobalOptions& global, const WaitOptions& options, World& world) {
  if (options.names.empty()) return Error{Code::kInvalidArgument, "please specify the name of a cluster", {}};
  for (const std::string& name : options.names) {
    if (name.empty()) return Error{Code::kInvalidArgument, "the name of a cluster is empty", {}};
  }
  WantedCondition wanted = TRY(ParseWantedCondition(options.condition));
  Millis timeout = TRY(PositiveDuration("--timeout " + options.timeout, options.timeout));
  Interrupt interrupt;
  Context ctx = parent.WithStop(interrupt.token());
  Notes notes(world.err);
  TRY(LoadConfig(ctx, global, world.getenv, notes));  // nothing of it is needed; one that was asked for has to be right
  Target target = TRY(TargetOf(options.target, world.getenv));
  ManagementCluster cluster = TRY(OpenTarget(ctx, target.cluster, world));
  std::vector<ClusterName> clusters;
  for (const std::string& name : options.names)
    clusters.push_back({options.ns.empty() ? cluster.ns() : options.ns, name});
  LiveLines lines(world.err, world.err_columns);
  ClusterWatch watch(cluster.client(), lines, world.err_columns > 0);
  watch.OnTrouble([&](const std::string& of, const Error& error) {
    notes.Say(0, fmt::format("Waiting: {}: {}", of, error.message));
  });
  auto judge = [&](const ClusterState& state) { return JudgeCondition(state, wanted); };
  const std::string what = fmt::format("{}={}", wanted.type, wanted.status);
  TRY(OrInterrupted(ctx, watch.Await(ctx.WithTimeout(timeout), clusters, judge, what)));
  lines.Draw({});
  for (const ClusterName& one : clusters) world.out << fmt::format("Cluster {}/{}: {}\n", one.ns, one.name, what);
  return Ok();
}

}  // namespace capi::cli::local_clusters
