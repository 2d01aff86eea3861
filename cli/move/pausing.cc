#include "cli/move/pausing.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/move/discover.h"

namespace capi::cli::move {
namespace {

constexpr Millis kBlockedPause(1'000);
constexpr int kBlockedTries = 360;

// For the object as it was looked at: who pauses it at the same moment isn't overlooked.
Status PauseOne(const Context& ctx, kube::Client& source, const Graph& graph, size_t i, const Ends& ends) {
  const Node& node = graph.nodes[i];
  const kube::Resource& resource = graph.kind(i).resource;
  kube::Object object = TRY(source.Get(ctx, resource, node.ns, node.name));
  std::optional<Record> before = RecordOf(object);
  if (before && GoesOn(*before, ends) && before->ends.to != kDirectory) return Ok();
  Json patch = PausePatch(object, {ends, before ? before->was_paused : IsPaused(object)});
  patch["metadata"]["resourceVersion"] = object.resource_version();
  TRY(source.Patch(ctx, resource, node.ns, node.name, kube::PatchType::kMerge, patch, {.metadata_only = true}));
  return Ok();
}

struct Paused {
  kube::Resource resource;
  std::string ns, name;
  Json patch;  // that resumes it
};

Status Find(const Context& ctx, kube::Client& cluster, const kube::Resource& resource, const std::string& ns,
            const Ends& ends, std::vector<Paused>& out) {
  return EachObject(ctx, cluster, resource, ns, {.limit = 250}, [&](const kube::Object& object) {
    std::optional<Record> record = RecordOf(object);
    if (record && GoesOn(*record, ends))
      out.push_back({resource, object.ns(), object.name(), ResumePatch(object, *record)});
  });
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

Status PauseSource(const Context& ctx, kube::Client& source, const Graph& graph, const Ends& ends) {
  std::vector<size_t> which;
  for (Role role : {Role::kCluster, Role::kClusterClass}) {
    for (size_t i : graph.Moving(role))
      if (!graph.places[i].stays) which.push_back(i);
  }
  return ForEach(ctx, which, [&](size_t i) -> Status {
    Status done = PauseOne(ctx, source, graph, i, ends);
    return done.ok() ? done : done.error().With("failed to pause " + graph.Describe(i));
  });
}

Result<size_t> ResumeAll(const Context& ctx, kube::Client& cluster, const Ends& ends, const Namespaces& namespaces,
                         Progress& progress) {
  std::vector<Paused> classes, clusters;
  TRY(Retried(ctx, [&]() -> Status {
    classes.clear();
    clusters.clear();
    TRY(Find(ctx, cluster, ClassResource(), "", ends, classes));
    for (const std::string& ns : namespaces) TRY(Find(ctx, cluster, ClusterResource(), ns, ends, clusters));
    return Ok();
  }));
  for (const auto& list : {classes, clusters}) {
    TRY(ForEach(ctx, list.size(), [&](size_t i) -> Status {
      const Paused& paused = list[i];
      progress.Say(1, "Resuming", {{paused.resource.kind, paused.name}, {"Namespace", paused.ns}});
      auto done = cluster.Patch(ctx, paused.resource, paused.ns, paused.name, kube::PatchType::kMerge, paused.patch,
                                {.metadata_only = true});
      if (done.ok() || done.code() == Code::kNotFound) return Ok();
      return done.error().With(fmt::format("failed to resume {} {}/{}", paused.resource.kind, paused.ns, paused.name));
    }));
  }
  return clusters.size();
}

Status AwaitUnblocked(const Context& ctx, kube::Client& source, const Graph& graph, Progress& progress) {
  std::vector<size_t> which;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.places[i].moves && graph.nodes[i].blocks_move) which.push_back(i);
  return ForEach(ctx, which, [&](size_t i) { return AwaitOne(ctx, source, graph, i, progress); });
}

}  // namespace capi::cli::move
