#include "cli/move/pausing.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "cli/move/discover.h"

namespace capi::cli::move {
namespace {

constexpr Millis kBlockedPause(1'000);
constexpr int kBlockedTries = 360;

// For the object as it was looked at: who pauses it at the same moment isn't overlooked.
Status PauseOne(const Context& ctx, kube::Client& source, const Graph& graph, size_t i, const Ends& ends,
                const std::string& run) {
  const Node& node = graph.nodes[i];
  const kube::Resource& resource = graph.kind(i).resource;
  kube::Object object = TRY(source.Get(ctx, resource, node.ns, node.name));
  std::optional<Record> before = RecordOf(object);
  Record record{before && IsOf(*before, ends) ? before->ends : ends, before ? before->was_paused : IsPaused(object),
                run};
  if (before == record) return Ok();
  Json patch = PausePatch(object, record);
  patch["metadata"]["resourceVersion"] = object.resource_version();
  TRY(source.Patch(ctx, resource, node.ns, node.name, kube::PatchType::kMerge, patch, {.metadata_only = true}));
  return Ok();
}

// A Cluster or ClusterClass.
struct Root {
  kube::Resource resource;
  std::string ns, name;
};

bool IsWhose(const Record& record, const Whose& whose) {
  return IsOf(record, whose.ends) && (!whose.this_run || record.run == whose.claim->run());
}

Status Find(const Context& ctx, kube::Client& cluster, const kube::Resource& resource, const std::string& ns,
            const Whose& whose, std::vector<Root>& out) {
  return EachObject(ctx, cluster, resource, ns, {.limit = 250}, [&](const kube::Object& object) {
    std::optional<Record> record = WrittenRecord(object);
    if (record && IsWhose(*record, whose)) out.push_back({resource, object.ns(), object.name()});
  });
}

std::vector<Root> RootsOf(const Graph& graph, Role role, const std::function<bool(size_t)>& which) {
  std::vector<Root> out;
  for (size_t i : graph.Moving(role))
    if (which(i)) out.push_back({graph.kind(i).resource, graph.nodes[i].ns, graph.nodes[i].name});
  return out;
}

// For the object as it is looked at: another move may have it by now. Whether it was resumed.
Result<bool> ResumeOne(const Context& ctx, kube::Client& cluster, const Root& root, const Whose& whose,
                       Progress& progress) {
  auto object = cluster.Get(ctx, root.resource, root.ns, root.name);
  if (!object.ok() && object.code() == Code::kNotFound) return false;
  if (!object.ok()) return object.error();
  std::optional<Record> record = WrittenRecord(*object);
  if (!record || !IsWhose(*record, whose)) return false;
  if (whose.claim != nullptr) TRY(whose.claim->Check(ctx));
  progress.Say(1, "Resuming", {{root.resource.kind, root.name}, {"Namespace", root.ns}});
  Json patch = ResumePatch(*object, *record);
  patch["metadata"]["resourceVersion"] = object->resource_version();
  auto done =
      cluster.Patch(ctx, root.resource, root.ns, root.name, kube::PatchType::kMerge, patch, {.metadata_only = true});
  if (!done.ok() && done.code() == Code::kNotFound) return false;
  if (!done.ok()) return done.error();
  return IsPaused(*object);
}

Result<size_t> Resume(const Context& ctx, kube::Client& cluster, const std::vector<Root>& roots, const Whose& whose,
                      Progress& progress) {
  std::atomic<size_t> resumed = 0;
  TRY(ForEach(ctx, roots.size(), [&](size_t i) -> Status {
    const Root& root = roots[i];
    auto done = ResumeOne(ctx, cluster, root, whose, progress);
    if (!done.ok())
      return done.error().With(fmt::format("failed to resume {} {}/{}", root.resource.kind, root.ns, root.name));
    if (*done) ++resumed;
    return Ok();
  }));
  return resumed.load();
}

// Classes first, which the Clusters use.
Result<size_t> Resume(const Context& ctx, kube::Client& cluster, const std::vector<Root>& classes,
                      const std::vector<Root>& clusters, const Whose& whose, Progress& progress) {
  TRY(Resume(ctx, cluster, classes, whose, progress));
  return Resume(ctx, cluster, clusters, whose, progress);
}

Status AwaitOne(const Context& ctx, kube::Client& source, const Graph& graph, size_t i, Progress& progress) {
  const Node& node = graph.nodes[i];
  for (int tries = 0; tries < kBlockedTries; ++tries) {
    auto object = source.Get(ctx, graph.kind(i).resource, node.ns, node.name, {.metadata_only = true});
    if (!object.ok() && object.code() == Code::kNotFound) return Ok();
    if (!object.ok()) return object.error();
    if (!object->has_annotation(kBlockMoveAnnotation)) return Ok();
    if (tries == 0) {
      progress.Say(0, fmt::format("Move blocked by {} annotation, waiting for it to be removed", kBlockMoveAnnotation),
                   {{"resource", graph.Describe(i)}});
    }
    if (!ctx.clock->Sleep(ctx.stop, kBlockedPause)) return ctx.Check();
  }
  return Error{Code::kFailedPrecondition,
               fmt::format("resource is not ready to move: {} still has the annotation {}, which its provider is to "
                           "remove",
                           graph.Describe(i), kBlockMoveAnnotation),
               {}};
}

}  // namespace

Status PauseSource(const Context& ctx, kube::Client& source, const Graph& graph, const Ends& ends,
                   const std::string& run) {
  std::vector<size_t> which;
  for (Role role : {Role::kCluster, Role::kClusterClass}) {
    for (size_t i : graph.Moving(role))
      if (graph.Leaves(i)) which.push_back(i);
  }
  return ForEach(ctx, which, [&](size_t i) -> Status {
    Status done = PauseOne(ctx, source, graph, i, ends, run);
    return done.ok() ? done : done.error().With("failed to pause " + graph.Describe(i));
  });
}

Result<size_t> ResumeAll(const Context& ctx, kube::Client& cluster, const Whose& whose, const std::string& ns,
                         Progress& progress) {
  std::vector<Root> classes, clusters;
  TRY(Retried(ctx, [&]() -> Status {
    classes.clear();
    clusters.clear();
    TRY(Find(ctx, cluster, ClassResource(), ns, whose, classes));
    return Find(ctx, cluster, ClusterResource(), ns, whose, clusters);
  }));
  return Resume(ctx, cluster, classes, clusters, whose, progress);
}

Result<size_t> ResumeGraph(const Context& ctx, kube::Client& cluster, const Whose& whose, const Graph& graph,
                           Progress& progress) {
  auto all = [](size_t) { return true; };
  return Resume(ctx, cluster, RootsOf(graph, Role::kClusterClass, all), RootsOf(graph, Role::kCluster, all), whose,
                progress);
}

Result<size_t> ResumeStaying(const Context& ctx, kube::Client& source, const Whose& whose, const Graph& graph,
                             Progress& progress) {
  auto stays = [&](size_t i) { return graph.places[i].stays; };
  return Resume(ctx, source, RootsOf(graph, Role::kClusterClass, stays), {}, whose, progress);
}

Status AwaitUnblocked(const Context& ctx, kube::Client& source, const Graph& graph, Progress& progress) {
  std::vector<size_t> which;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.places[i].moves && graph.nodes[i].blocks_move) which.push_back(i);
  return ForEach(ctx, which, [&](size_t i) { return AwaitOne(ctx, source, graph, i, progress); });
}

}  // namespace capi::cli::move
