#include "cli/move/move.h"

#include <fmt/format.h>

#include <optional>

#include "api/text.h"
#include "base/strings.h"
#include "cli/frame/config.h"
#include "cli/frame/interrupt.h"
#include "cli/move/checks.h"
#include "cli/move/directory.h"
#include "cli/move/discover.h"
#include "cli/move/pausing.h"
#include "cli/move/providers.h"
#include "cli/move/removal.h"
#include "cli/move/transfer.h"

namespace capi::cli {
namespace {

using namespace move;  // NOLINT

constexpr std::string_view kAgain =
    "The Clusters stay paused. The same command again goes on where this one ended, and a move from the target to the "
    "source takes it back";

// What all parts of one run work with. Thread-compatible.
struct Run {
  const Context& ctx;
  const Context& unstopped;  // for what has to be done after Ctrl-C, too
  const MoveOptions& options;
  World& world;
  Progress progress;
};

Status Exclusive(std::string_view a, bool has_a, std::string_view b, bool has_b) {
  if (!has_a || !has_b) return Ok();
  return Error{
      Code::kInvalidArgument,
      fmt::format("if any flags in the group [{0} {1}] are set none of the others can be; [{0} {1}] were all set", a,
                  b),
      {}};
}

Status CheckOptions(const MoveOptions& options) {
  bool into = !options.to_directory.empty(), out_of = !options.from_directory.empty();
  TRY(Exclusive("to-directory", into, "to-kubeconfig", !options.to.kubeconfig.empty()));
  TRY(Exclusive("from-directory", out_of, "to-directory", into));
  TRY(Exclusive("from-directory", out_of, "kubeconfig", !options.from.kubeconfig.empty()));
  TRY(Exclusive("include-providers", options.include_providers, "to-directory", into));
  TRY(Exclusive("include-providers", options.include_providers, "from-directory", out_of));
  if (into || out_of || options.dry_run || !options.to.kubeconfig.empty()) return Ok();
  return Error{
      Code::kInvalidArgument,
      "please specify a target cluster using the --to-kubeconfig flag when not using --dry-run, --to-directory "
      "or --from-directory",
      {}};
}

// Of a management cluster: that of the CustomResourceDefinition that every one of them has.
Result<std::string> IdOf(const Context& ctx, ManagementCluster& cluster) {
  auto crd = cluster.client().Get(ctx, kube::Builtin("CustomResourceDefinition"), "", "clusters.cluster.x-k8s.io",
                                  {.metadata_only = true});
  if (!crd.ok()) return crd.error().With("failed to identify the management cluster");
  return crd->uid();
}

Result<ManagementCluster> Open(const Run& run, const ClusterOptions& options) {
  ManagementCluster cluster = TRY(ManagementCluster::Open(options, run.world.getenv));
  TRY(cluster.CheckContract(run.ctx, AlsoAllowed::kNothing));
  return cluster;
}

void SayDryRun(Run& run) {
  const std::string line(56, '*');
  for (const std::string& text : {line, std::string("This is a dry-run move, will not perform any real action"), line})
    run.progress.Say(0, text);
}

void SayCounts(Run& run, const Graph& graph) {
  run.progress.Say(0, fmt::format("Moving Cluster API objects Clusters={}", graph.Moving(Role::kCluster).size()));
  run.progress.Say(
      0, fmt::format("Moving Cluster API objects ClusterClasses={}", graph.Moving(Role::kClusterClass).size()));
  run.progress.Say(1, fmt::format("Total objects count={}", graph.moving()));
  for (const std::string& note : graph.notes) run.progress.Warn(note);
  for (Role role : {Role::kCluster, Role::kClusterClass}) {
    for (size_t i : graph.Moving(role)) {
      const Node& node = graph.nodes[i];
      if (node.paused && (!node.record || node.record->was_paused))
        run.progress.Say(0, fmt::format("{} is paused, and stays so", graph.Describe(i)));
    }
  }
}

Result<Graph> Discover(Run& run, ManagementCluster& source, const std::string& ns) {
  run.progress.Say(0, "Discovering Cluster API objects");
  auto providers = TRY(source.Providers(run.ctx));
  Graph graph = TRY_WITH(ReadGraph(run.ctx, source.client(), providers, ns), "failed to get object graph");
  SayCounts(run, graph);
  return graph;
}

// In a namespace without Clusters there may be others things to move, or the end of a move that was interrupted.
Status SayNone(Run& run, const std::string& ns, ManagementCluster& source, const Graph& graph, size_t resumed) {
  if (!graph.Moving(Role::kCluster).empty()) return Ok();
  if (resumed > 0) {
    run.progress.Say(
        0, fmt::format("The move had been interrupted: {} Clusters of it were resumed in the target", resumed));
    return Ok();
  }
  std::string hint;
  auto others = NamespacesWithClusters(run.ctx, source.client());
  if (others.ok() && !others->empty()) {
    std::vector<std::string> names(others->begin(), others->end());
    hint = fmt::format("; there are some in {} (--namespace)", JoinNames(names, 5));
  }
  run.progress.Warn(fmt::format("0 Clusters: there is none in namespace {} of the source{}", api::GoQuote(ns), hint));
  return Ok();
}

void TellPlan(Run& run, const Graph& graph, const char* verb, bool remove) {
  for (const auto& group : graph.groups) {
    for (size_t i : group)
      run.progress.Say(0, verb, {{graph.kind(i).resource.kind, graph.nodes[i].name}, {"Namespace", graph.nodes[i].ns}});
  }
  if (!remove) return;
  run.progress.Say(0, "Deleting objects from the source cluster");
  TellRemovals(graph, 0, run.progress);
}

Status Begin(const Graph& graph, const Ends& ends) { return Refuse("the move can't begin", Hindrances(graph, ends)); }

// Whether all is as it was before any move.
bool IsFresh(const Graph& graph) {
  for (const Node& node : graph.nodes)
    if (node.record || node.leaving) return false;
  return true;
}

// Source and target of a move between clusters.
struct Pair {
  ManagementCluster source, target;
  Ends ends;
  std::string ns;
};

Result<Pair> OpenBoth(Run& run) {
  ManagementCluster source = TRY(Open(run, run.options.from));
  ManagementCluster target = TRY(Open(run, run.options.to));
  Ends ends;
  ends.from = TRY(IdOf(run.ctx, source));
  ends.to = TRY(IdOf(run.ctx, target));
  if (ends.from == ends.to) {
    return Error{Code::kInvalidArgument,
                 "source and target are the same management cluster: name another one with --to-kubeconfig and "
                 "--to-kubeconfig-context",
                 {}};
  }
  if (run.options.include_providers) TRY(IncludeProviders(run.ctx, source.client(), target.client(), run.progress));
  auto wanted = TRY(source.Providers(run.ctx));
  auto found = TRY(target.Providers(run.ctx));
  auto lacks = TRY(LacksOfProviders(wanted, found));
  TRY(Refuse("failed to check providers in target cluster", lacks));
  std::string ns = run.options.ns.empty() ? source.ns() : run.options.ns;
  return Pair{std::move(source), std::move(target), std::move(ends), std::move(ns)};
}

Status CreateAndDelete(Run& run, Pair& pair, const Graph& graph, Transfer& transfer) {
  run.progress.Say(0, "Creating objects in the target cluster");
  TRY(transfer.Run());
  run.progress.Say(0, "Deleting objects from the source cluster");
  return RemoveFromSource(run.ctx, pair.source.client(), graph, run.progress);
}

Status PauseAndWait(Run& run, Pair& pair, const Graph& graph) {
  TRY(PauseSource(run.ctx, pair.source.client(), graph, pair.ends));
  run.progress.Say(0, "Waiting for all resources to be ready to move");
  return AwaitUnblocked(run.ctx, pair.source.client(), graph, run.progress);
}

// What controllers made while the Clusters were being paused isn't in the graph: its owners' end in the source would be
// its own.
Status CheckNothingCame(Run& run, ManagementCluster& source, const std::string& ns, const Graph& graph) {
  auto providers = TRY(source.Providers(run.ctx));
  Graph now = TRY_WITH(ReadGraph(run.ctx, source.client(), providers, ns), "failed to get object graph");
  for (size_t i = 0; i < now.nodes.size(); ++i) {
    if (!now.places[i].moves || now.nodes[i].uid.empty()) continue;
    auto known = graph.by_uid.find(now.nodes[i].uid);
    if (known != graph.by_uid.end() && graph.places[known->second].moves) continue;
    return Error{
        Code::kUnavailable,
        fmt::format("{} came while the Clusters were being paused: run the same command again", now.Describe(i)),
        {}};
  }
  return Ok();
}

Status BetweenClusters(Run& run) {
  run.progress.Say(0, "Performing move...");
  Pair pair = TRY(OpenBoth(run));
  Graph graph = TRY(Discover(run, pair.source, pair.ns));
  TRY(Begin(graph, pair.ends));
  auto read = [&](size_t i) {
    return pair.source.client().Get(run.ctx, graph.kind(i).resource, graph.nodes[i].ns, graph.nodes[i].name);
  };
  Transfer transfer(run.ctx, graph, pair.ends, pair.target.client(), read, Existing::kGoOn, run.progress);
  TRY(transfer.Check());
  const bool fresh = IsFresh(graph) && !transfer.GoesOn();
  Status paused = PauseAndWait(run, pair, graph);
  if (paused.ok()) paused = CheckNothingCame(run, pair.source, pair.ns, graph);
  if (!paused.ok() && fresh) {  // nothing else was changed yet
    auto resumed = ResumeAll(run.unstopped, pair.source.client(), pair.ends, {pair.ns}, run.progress);
    if (!resumed.ok()) {
      run.progress.Warn(
          fmt::format("not all Clusters were resumed ({}): the same command again goes on", resumed.error().message));
    }
  }
  if (!paused.ok()) return paused;
  Status moved = CreateAndDelete(run, pair, graph, transfer);
  if (!moved.ok()) {
    Error error = moved.error();
    error.message += fmt::format(". {}", kAgain);
    return error;
  }
  size_t resumed = TRY_WITH(ResumeAll(run.ctx, pair.target.client(), pair.ends, {pair.ns}, run.progress),
                            "all objects are in the target, but not all were resumed. Run the same command again");
  return SayNone(run, pair.ns, pair.source, graph, resumed);
}

Status DryRun(Run& run) {
  run.progress.Say(0, "Performing move...");
  SayDryRun(run);
  ManagementCluster source = TRY(Open(run, run.options.from));
  std::string ns = run.options.ns.empty() ? source.ns() : run.options.ns;
  Graph graph = TRY(Discover(run, source, ns));
  bool into = !run.options.to_directory.empty();
  std::string id = TRY(IdOf(run.ctx, source));
  Ends ends{id, std::string(kDirectory)};
  for (const std::string& why : Hindrances(graph, ends)) run.progress.Warn(why);
  run.progress.Say(
      0, into ? fmt::format("Saving files to {}", run.options.to_directory) : "Creating objects in the target cluster");
  if (run.options.include_providers) TRY(TellProviders(run.ctx, source.client(), run.progress));
  TellPlan(run, graph, into ? "Saving" : "Creating", !into);
  return SayNone(run, ns, source, graph, 0);
}

Status IntoDirectory(Run& run) {
  run.progress.Say(0, "Performing move...");
  const std::string& directory = run.options.to_directory;
  ManagementCluster source = TRY(Open(run, run.options.from));
  TRY(CheckDirectory(directory));
  std::string ns = run.options.ns.empty() ? source.ns() : run.options.ns;
  Graph graph = TRY(Discover(run, source, ns));
  std::string id = TRY(IdOf(run.ctx, source));
  Ends ends{id, std::string(kDirectory)};
  TRY(Begin(graph, ends));
  Status done = PauseSource(run.ctx, source.client(), graph, ends);
  if (done.ok()) done = AwaitUnblocked(run.ctx, source.client(), graph, run.progress);
  run.progress.Say(0, fmt::format("Saving files to {}", directory));
  if (done.ok()) done = WriteDirectory(run.ctx, graph, source.client(), directory, run.progress);
  auto resumed = ResumeAll(run.unstopped, source.client(), ends, {ns}, run.progress);
  if (!done.ok() && !resumed.ok()) {
    run.progress.Warn(
        fmt::format("not all Clusters were resumed ({}): the same command again goes on", resumed.error().message));
  }
  TRY(done);
  TRY_WITH(resumed, "the files are written, but not all Clusters were resumed. Run the same command again");
  return SayNone(run, ns, source, graph, 0);
}

Status OutOfDirectory(Run& run) {
  run.progress.Say(0, "Performing move...");
  if (run.options.dry_run) SayDryRun(run);
  const std::string& directory = run.options.from_directory;
  ManagementCluster target = TRY(Open(run, run.options.to));
  TRY(CheckDirectory(directory));
  run.progress.Say(0, fmt::format("Restoring files from {}", directory));
  FromFiles files = TRY(ReadDirectory(run.ctx, target.client(), directory));
  SayCounts(run, files.graph);
  if (size_t rest = files.graph.nodes.size() - files.graph.moving(); rest > 0)
    run.progress.Warn(fmt::format("{} objects of the files belong to no Cluster, and aren't restored", rest));
  std::string id = TRY(IdOf(run.ctx, target));
  Ends ends{std::string(kDirectory), id};
  Transfer transfer(
      run.ctx, files.graph, ends, target.client(), [&](size_t i) { return ReadNode(files, i); }, Existing::kKeep,
      run.progress);
  TRY(transfer.Check());
  run.progress.Say(0, "Restoring objects into the target cluster");
  if (run.options.dry_run) return TellPlan(run, files.graph, "Restoring", false), Ok();
  Namespaces namespaces;
  for (size_t i : files.graph.Moving(Role::kCluster)) namespaces.insert(files.graph.nodes[i].ns);
  const char* again = "the same command again goes on where this one ended";
  TRY_WITH(transfer.Run(), again);
  TRY_WITH(ResumeAll(run.ctx, target.client(), ends, namespaces, run.progress), again);
  if (namespaces.empty()) run.progress.Warn(fmt::format("0 Clusters: the files in {} have none", directory));
  return Ok();
}

}  // namespace

Status Move(const Context& parent, const GlobalOptions& global, const MoveOptions& options, World& world) {
  TRY(CheckOptions(options));
  Interrupt interrupt;
  Context ctx = parent.WithStop(interrupt.token());
  Notes notes(world.err);
  TRY(LoadConfig(ctx, global, world.getenv, notes));  // nothing of it is needed; one that was asked for has to be right
  Hidden hidden = TRY(ParseHidden(options.hide_warnings));
  Run run{ctx, parent, options, world, Progress(notes, hidden)};
  if (!options.from_directory.empty()) return OutOfDirectory(run);
  if (options.dry_run) return DryRun(run);
  return options.to_directory.empty() ? BetweenClusters(run) : IntoDirectory(run);
}

}  // namespace capi::cli
