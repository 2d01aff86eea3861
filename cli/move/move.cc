#include "cli/move/move.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "api/text.h"
#include "base/strings.h"
#include "cli/frame/config.h"
#include "cli/frame/interrupt.h"
#include "cli/move/checks.h"
#include "cli/move/claim.h"
#include "cli/move/directory.h"
#include "cli/move/discover.h"
#include "cli/move/options.h"
#include "cli/move/pausing.h"
#include "cli/move/providers.h"
#include "cli/move/removal.h"
#include "cli/move/transfer.h"

namespace capi::cli {
namespace {

using namespace move;  // NOLINT

constexpr char kGoesOn[] = "the same command again goes on where this one ended";
constexpr std::string_view kAgain =
    "The Clusters stay paused. The same command again goes on where this one ended, and a move from the target to the "
    "source takes it back";
// So often, and so far apart, new objects are waited for: a controller that has made what it was about to make sees the
// pause then.
constexpr int kRoundsOfPausing = 20;
constexpr Millis kPauseOfRounds(500);

// What all parts of one run work with. Thread-compatible.
struct Run {
  const Context& ctx;
  const Context& unstopped;  // for what has to be done after Ctrl-C, too
  const MoveOptions& options;
  World& world;
  Progress progress;
};

// As Cluster API's clusterctl, which says nothing of them.
void WarnOfMeaningless(Run& run) {
  for (const std::string& warning : Meaningless(run.options)) run.progress.Warn(warning);
}

// Of a management cluster: that of the CustomResourceDefinition that every one of them has.
Result<std::string> IdOf(const Context& ctx, ManagementCluster& cluster) {
  auto crd = cluster.client().Get(ctx, kube::Builtin("CustomResourceDefinition"), "", "clusters.cluster.x-k8s.io",
                                  {.metadata_only = true});
  if (!crd.ok()) return crd.error().With("failed to identify the management cluster");
  return crd->uid();
}

Result<ManagementCluster> Open(const Run& run, const ClusterOptions& options,
                               AlsoAllowed also = AlsoAllowed::kNothing) {
  ManagementCluster cluster = TRY(ManagementCluster::Open(options, run.world.getenv));
  TRY(cluster.CheckContract(run.ctx, also));
  return cluster;
}

void SayDryRun(Run& run) {
  const std::string line(56, '*');
  for (const std::string& text : {line, std::string("This is a dry-run move, will not perform any real action"), line})
    run.progress.Say(0, text);
}

// A Cluster in a file is paused as the move into the directory left it, unless its record says that it was before.
bool StaysPaused(const Node& node, bool out_of_files) {
  return node.paused && (node.record ? node.record->was_paused : !out_of_files);
}

void SayCounts(Run& run, const Graph& graph) {
  const bool out_of_files = !run.options.from_directory.empty();
  run.progress.Say(0, fmt::format("Moving Cluster API objects Clusters={}", graph.Moving(Role::kCluster).size()));
  run.progress.Say(
      0, fmt::format("Moving Cluster API objects ClusterClasses={}", graph.Moving(Role::kClusterClass).size()));
  run.progress.Say(1, fmt::format("Total objects count={}", graph.moving()));
  for (const std::string& note : graph.notes) run.progress.Warn(note);
  for (Role role : {Role::kCluster, Role::kClusterClass}) {
    for (size_t i : graph.Moving(role)) {
      if (StaysPaused(graph.nodes[i], out_of_files))
        run.progress.Say(0, fmt::format("{} is paused, and stays so", graph.Describe(i)));
    }
  }
}

Result<Graph> ReadSource(Run& run, ManagementCluster& source, const std::string& ns) {
  auto providers = TRY(source.Providers(run.ctx));
  return TRY_WITH(ReadGraph(run.ctx, source.client(), providers, ns), "failed to get object graph");
}

Result<Graph> Discover(Run& run, ManagementCluster& source, const std::string& ns) {
  run.progress.Say(0, "Discovering Cluster API objects");
  Graph graph = TRY(ReadSource(run, source, ns));
  SayCounts(run, graph);
  return graph;
}

// In a namespace without Clusters there may be other things to move, or the end of a move that was interrupted.
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

Status Begin(const Graph& graph, const Ends& ends, const std::function<bool(size_t)>& was_ready) {
  return Refuse("the move can't begin", Hindrances(graph, ends, was_ready));
}

// Whether all is as it was before any move.
bool IsFresh(const Graph& graph) {
  for (const Node& node : graph.nodes)
    if (node.record || node.leaving) return false;
  return true;
}

// Source and target of a move between clusters.
struct Pair {
  ManagementCluster source, target;
  Ends ends;  // a target without Cluster API has no name until the providers are there
  std::string ns;
};

Result<Pair> OpenBoth(Run& run) {
  ManagementCluster source = TRY(Open(run, run.options.from));
  const bool include = run.options.include_providers;
  ManagementCluster target =
      TRY(Open(run, run.options.to, include ? AlsoAllowed::kNotInstalled : AlsoAllowed::kNothing));
  Ends ends;
  ends.from = TRY(IdOf(run.ctx, source));
  auto to = IdOf(run.ctx, target);
  if (!to.ok() && !(include && to.code() == Code::kNotFound)) return to.error();
  if (to.ok()) ends.to = *to;
  if (ends.from == ends.to) {
    return Error{Code::kInvalidArgument,
                 "source and target are the same management cluster: name another one with --to-kubeconfig and "
                 "--to-kubeconfig-context",
                 {}};
  }
  std::string ns = run.options.ns.empty() ? source.ns() : run.options.ns;
  return Pair{std::move(source), std::move(target), std::move(ends), std::move(ns)};
}

// Before any is included, of those that won't be.
Status CheckProviders(Run& run, Pair& pair, bool included) {
  auto wanted = TRY(pair.source.Providers(run.ctx));
  if (!included) TRY(EraseIncluded(run.ctx, pair.source.client(), pair.target.client(), wanted));
  auto found = TRY(pair.target.Providers(run.ctx));
  auto lacks = TRY(LacksOfProviders(wanted, found));
  return Refuse("failed to check providers in target cluster", lacks);
}

// The core may be among them.
Status Include(Run& run, Pair& pair) {
  TRY(IncludeProviders(run.ctx, pair.source.client(), pair.target.client(), run.progress));
  TRY(pair.target.CheckContract(run.ctx, AlsoAllowed::kNothing));
  pair.ends.to = TRY(IdOf(run.ctx, pair.target));
  return CheckProviders(run, pair, /*included=*/true);
}

Transfer TransferOf(Run& run, Pair& pair, const Graph& graph, Claim* claim) {
  auto read = [&run, &pair, &graph](size_t i) { return ReadNode(run.ctx, pair.source.client(), graph, i); };
  return Transfer(run.ctx, graph, pair.ends, pair.target.client(), read, Existing::kGoOn, run.progress, claim);
}

// What a refusal doesn't say where an earlier run has begun.
Status SayPaused(Status refused, bool begun) {
  if (refused.ok() || !begun) return refused;
  Error error = refused.error();
  error.message += fmt::format(". {}", kAgain);
  return error;
}

// Before anything is written.
Status CheckBoth(Run& run, Pair& pair, const Graph& graph, Transfer& transfer) {
  TRY(Begin(graph, pair.ends, [&](size_t i) { return transfer.Has(i); }));
  TRY(CheckProviders(run, pair, !run.options.include_providers));
  TRY(transfer.CheckObjects());
  if (run.options.include_providers) TRY(Include(run, pair));
  return transfer.CheckKinds();
}

Status CheckFirst(Run& run, Pair& pair, const Graph& graph) {
  Transfer transfer = TransferOf(run, pair, graph, nullptr);
  TRY(transfer.Look());
  return SayPaused(CheckBoth(run, pair, graph, transfer), !IsFresh(graph) || transfer.GoesOn());
}

// Once no other run goes on: what it did before is seen now. Whether nothing of any move was there.
Result<bool> CheckAgain(Run& run, Pair& pair, Graph& graph) {
  graph = TRY(ReadSource(run, pair.source, pair.ns));
  Transfer transfer = TransferOf(run, pair, graph, nullptr);
  TRY(transfer.Look());
  const bool fresh = IsFresh(graph) && !transfer.GoesOn();
  Status checked = Begin(graph, pair.ends, [&](size_t i) { return transfer.Has(i); });
  if (checked.ok()) checked = transfer.CheckObjects();
  TRY(SayPaused(checked, !fresh));
  return fresh;
}

// `came` since the objects were read before: controllers, and a run that was taken over, go on while Clusters are being
// paused.
Status CheckNews(const Graph& graph, const Ends& ends, const std::vector<size_t>& came) {
  auto known = [&](size_t i) { return !std::binary_search(came.begin(), came.end(), i); };
  return Refuse(
      "objects came, or changed, while the Clusters were being paused. Run the same command again when they are ready",
      Hindrances(graph, ends, known));
}

bool AnyBlocked(const Graph& graph) {
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.places[i].moves && graph.nodes[i].blocks_move) return true;
  return false;
}

// Pauses what leaves, and reads `graph` again until all that there is then is known, paused by this run and ready to
// move. `claim` is null with a directory.
Status Settle(Run& run, ManagementCluster& source, const Ends& ends, const std::string& ns, Claim* claim,
              Graph& graph) {
  const std::string run_id = claim == nullptr ? "" : claim->run();
  run.progress.Say(0, "Waiting for all resources to be ready to move");
  for (int round = 0; round < kRoundsOfPausing; ++round) {
    if (round > 0 && !run.ctx.clock->Sleep(run.ctx.stop, kPauseOfRounds)) return run.ctx.Check();
    if (claim != nullptr) TRY(claim->Check(run.ctx));
    TRY(PauseSource(run.ctx, source.client(), graph, ends, run_id));
    TRY(AwaitUnblocked(run.ctx, source.client(), graph, run.progress));
    Graph now = TRY(ReadSource(run, source, ns));
    std::vector<size_t> came = Came(graph, now);
    graph = std::move(now);
    TRY(CheckNews(graph, ends, came));
    if (came.empty() && !AnyBlocked(graph) && NotHeld(graph, run_id).empty()) return Ok();
  }
  TRY(Refuse("Clusters don't stay paused. Find out who resumes them, and run the same command again",
             NotHeld(graph, run_id)));
  return Error{
      Code::kUnavailable, "objects come all the time though the Clusters are paused: run the same command again", {}};
}

bool AnyLeaves(const Graph& graph) {
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.Leaves(i)) return true;
  return false;
}

// What came while objects were copied isn't among the copies: its owners' end in the source would be its own. Nor is
// what controllers have changed, of a Cluster that somebody resumed. Gives the source as it is now.
Result<Graph> CheckNothingCame(Run& run, ManagementCluster& source, const std::string& ns, const std::string& run_id,
                               const Graph& graph) {
  Graph now = TRY(ReadSource(run, source, ns));
  TRY(Refuse("not all of the source is paused", NotHeld(now, run_id)));
  std::vector<size_t> came = Came(graph, now);
  if (came.empty()) return now;
  return Error{
      Code::kUnavailable, fmt::format("{} came while objects were being copied", now.Describe(came.front())), {}};
}

Status CreateAndDelete(Run& run, Pair& pair, const Graph& graph, Transfer& transfer, Claim& claim) {
  run.progress.Say(0, "Creating objects in the target cluster");
  TRY(transfer.Run());
  TRY_WITH(CheckNothingCame(run, pair.source, pair.ns, claim.run(), graph), "nothing was deleted in the source");
  run.progress.Say(0, "Deleting objects from the source cluster");
  TRY(RemoveFromSource(run.ctx, pair.source.client(), graph, transfer, claim, run.progress));
  return claim.Check(run.ctx);
}

void WarnOfPaused(Run& run, const Error& error) {
  run.progress.Warn(fmt::format("not all Clusters were resumed ({}): the same command again goes on", error.message));
}

// The end of a run that has only paused something, unless another one has taken over.
void TakeBack(Run& run, Pair& pair, Claim& claim) {
  if (claim.lost()) return;
  auto resumed =
      ResumeAll(run.unstopped, pair.source.client(), {pair.ends, &claim, /*this_run=*/true}, pair.ns, run.progress);
  if (!resumed.ok() && !claim.lost()) WarnOfPaused(run, resumed.error());
}

// What is left of a claim hinders nobody. Who has lost it tells nobody to delete it: there is the other run's, too.
void Release(Run& run, const std::string& ns, Claim& claim) {
  Status released = claim.Release(run.unstopped);
  if (released.ok() || claim.lost()) return;
  run.progress.Warn(
      fmt::format("the ConfigMap {}/{}, the mark of this move, could not be removed ({}): delete it in "
                  "source and target, or leave it to the next move",
                  ns, kClaimName, released.error().message));
}

Status Finish(Run& run, Pair& pair, const Graph& graph, Claim& claim) {
  const char* again = "all objects are in the target, but not all were resumed. Run the same command again";
  size_t resumed =
      TRY_WITH(ResumeAll(run.ctx, pair.target.client(), {pair.ends, &claim}, pair.ns, run.progress), again);
  TRY_WITH(ResumeStaying(run.ctx, pair.source.client(), {pair.ends, &claim}, graph, run.progress), again);
  return SayNone(run, pair.ns, pair.source, graph, resumed);
}

// With the claim. `graph` is as it was read before.
Status Claimed(Run& run, Pair& pair, Graph& graph, Claim& claim) {
  const bool fresh = TRY(CheckAgain(run, pair, graph));
  Status begun = Settle(run, pair.source, pair.ends, pair.ns, &claim, graph);
  Transfer transfer = TransferOf(run, pair, graph, &claim);
  if (begun.ok()) begun = transfer.Check();
  if (!begun.ok()) {
    if (fresh) TakeBack(run, pair, claim);
    return SayPaused(begun, !fresh);
  }
  Status moved = CreateAndDelete(run, pair, graph, transfer, claim);
  if (!moved.ok()) return SayPaused(moved, true);
  return Finish(run, pair, graph, claim);
}

// Where a cluster lacks the namespace, nothing in it is paused or leaves: only what has none can be missing there. The
// other one may have what an interrupted move left paused.
Status CopyShared(Run& run, Pair& pair, const Graph& graph, Claim& claim) {
  Transfer transfer = TransferOf(run, pair, graph, &claim);
  TRY(transfer.Check());
  TRY_WITH(transfer.Run(), kGoesOn);
  return Finish(run, pair, graph, claim);
}

// With what was taken of the claim.
Status GoOn(Run& run, Pair& pair, Graph& graph, Claim& claim) {
  if (claim.denied())
    run.progress.Warn(fmt::format("{}: moves of it at the same time aren't noticed", claim.denied()->message));
  if (!claim.lacks()) return Claimed(run, pair, graph, claim);
  return AnyLeaves(graph) ? Status(*claim.lacks()) : CopyShared(run, pair, graph, claim);
}

Status BetweenClusters(Run& run) {
  run.progress.Say(0, "Performing move...");
  Pair pair = TRY(OpenBoth(run));
  Graph graph = TRY(Discover(run, pair.source, pair.ns));
  TRY(CheckFirst(run, pair, graph));
  Claim claim(pair.source.client(), pair.target.client(), pair.ends, pair.ns);
  if (AnyLeaves(graph)) TRY(MakeNamespace(run.ctx, pair.target.client(), pair.ns));
  Status moved = claim.Take(run.ctx);
  if (moved.ok()) moved = GoOn(run, pair, graph, claim);
  Release(run, pair.ns, claim);
  // Whatever it failed at, that is the other run's now.
  return !moved.ok() && claim.lost() ? claim.Lost() : moved;
}

void Tell(Run& run, const Status& checked) {
  if (!checked.ok()) run.progress.Warn(checked.error().message);
}

// What a move would be refused for is told, and no more than that.
void TellRefusals(Run& run, Pair& pair, const Graph& graph) {
  Transfer transfer = TransferOf(run, pair, graph, nullptr);
  Status looked = transfer.Look();
  for (const std::string& why : Hindrances(graph, pair.ends, [&](size_t i) { return transfer.Has(i); }))
    run.progress.Warn(why);
  Tell(run, looked.ok() ? transfer.CheckObjects() : looked);
  Tell(run, CheckProviders(run, pair, !run.options.include_providers));
  if (run.options.include_providers) return;  // which bring the rest
  Tell(run, transfer.CheckKinds());
}

Status DryRun(Run& run) {
  run.progress.Say(0, "Performing move...");
  SayDryRun(run);
  ManagementCluster source = TRY(Open(run, run.options.from));
  std::string ns = run.options.ns.empty() ? source.ns() : run.options.ns;
  Ends ends;
  ends.from = TRY(IdOf(run.ctx, source));
  const bool into = !run.options.to_directory.empty();
  if (into) ends.to = TRY(OpenDirectory(run.options.to_directory));
  Graph graph = TRY(Discover(run, source, ns));
  std::optional<Pair> pair;
  if (!run.options.to.kubeconfig.empty()) {
    auto opened = OpenBoth(run);
    if (!opened.ok()) Tell(run, opened.error().With("the target can't be looked at"));
    if (opened.ok()) pair.emplace(*std::move(opened));
  }
  if (pair) {
    TellRefusals(run, *pair, graph);
  } else {
    for (const std::string& why : Hindrances(graph, ends, [](size_t) { return false; })) run.progress.Warn(why);
  }
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
  Ends ends;
  ends.to = TRY(OpenDirectory(directory));
  std::string ns = run.options.ns.empty() ? source.ns() : run.options.ns;
  Graph graph = TRY(Discover(run, source, ns));
  ends.from = TRY(IdOf(run.ctx, source));
  TRY(Begin(graph, ends, [](size_t) { return false; }));
  Status done = Settle(run, source, ends, ns, nullptr, graph);
  if (done.ok()) {
    run.progress.Say(0, fmt::format("Saving files to {}", directory));
    auto look_again = [&] { return CheckNothingCame(run, source, ns, "", graph); };
    done = WriteDirectory(run.ctx, graph, source.client(), directory, look_again, run.progress);
  }
  auto resumed = ResumeGraph(run.unstopped, source.client(), {ends}, graph, run.progress);
  if (!done.ok()) {
    if (!resumed.ok()) WarnOfPaused(run, resumed.error());
    return done;
  }
  TRY_WITH(resumed, "the files are written, but not all Clusters were resumed. Run the same command again");
  return SayNone(run, ns, source, graph, 0);
}

// Those of whose pause no record is left: the next run takes them for paused by somebody.
void WarnOfStillPaused(Run& run, ManagementCluster& target, const Graph& graph) {
  for (size_t i : graph.Moving(Role::kCluster)) {
    const Node& node = graph.nodes[i];
    if (StaysPaused(node, /*out_of_files=*/true)) continue;
    auto there = target.client().Get(run.ctx, graph.kind(i).resource, node.ns, node.name);
    if (there.ok() && IsPaused(*there))
      run.progress.Warn(
          fmt::format("{} is still paused in the target, where nothing says that this move has paused it: "
                      "set its spec.paused to false, unless somebody wants it so",
                      graph.Describe(i)));
  }
}

Status OutOfDirectory(Run& run) {
  run.progress.Say(0, "Performing move...");
  if (run.options.dry_run) SayDryRun(run);
  const std::string& directory = run.options.from_directory;
  ManagementCluster target = TRY(Open(run, run.options.to));
  TRY(OpenDirectory(directory));
  run.progress.Say(0, fmt::format("Restoring files from {}", directory));
  FromFiles files = TRY(ReadDirectory(run.ctx, target.client(), directory));
  SayCounts(run, files.graph);
  if (size_t rest = files.graph.nodes.size() - files.graph.moving(); rest > 0)
    run.progress.Warn(fmt::format("{} objects of the files belong to no Cluster, and aren't restored", rest));
  const std::string to = TRY(IdOf(run.ctx, target));
  const Ends ends{EndOf(files.graph), to};
  Transfer transfer(
      run.ctx, files.graph, ends, target.client(), [&](size_t i) { return ReadNode(files, i); }, Existing::kKeep,
      run.progress, nullptr);
  TRY(transfer.Check());
  run.progress.Say(0, "Restoring objects into the target cluster");
  if (run.options.dry_run) return TellPlan(run, files.graph, "Restoring", false), Ok();
  TRY_WITH(transfer.Run(), kGoesOn);
  TRY_WITH(ResumeGraph(run.ctx, target.client(), {ends}, files.graph, run.progress), kGoesOn);
  WarnOfStillPaused(run, target, files.graph);
  if (files.graph.Moving(Role::kCluster).empty())
    run.progress.Warn(fmt::format("0 Clusters: the files in {} have none", directory));
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
  WarnOfMeaningless(run);
  if (!options.from_directory.empty()) return OutOfDirectory(run);
  if (options.dry_run) return DryRun(run);
  return options.to_directory.empty() ? BetweenClusters(run) : IntoDirectory(run);
}

}  // namespace capi::cli
