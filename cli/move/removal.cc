#include "cli/move/removal.h"

#include <fmt/format.h>

#include <set>

#include "cli/move/discover.h"

namespace capi::cli::move {
namespace {

Status GoneIsFine(Status status) { return status.ok() || status.code() != Code::kNotFound ? status : Ok(); }

// Removes objects of one graph. Thread-safe.
class Remover {
 public:
  Remover(const Context& ctx, kube::Client& source, const Graph& graph) : ctx_(ctx), source_(source), graph_(graph) {}

  // The mark comes first: webhooks let what has it go, and the next run knows what the target has already. Finalizers
  // go last, when no controller can add another one.
  Status Remove(size_t i) {
    const Node& node = graph_.nodes[i];
    Json mark;
    Ensure(mark, {"metadata", "annotations", kDeleteForMoveAnnotation}) = "";
    auto marked = Patch(i, std::move(mark));
    if (!marked.ok()) return GoneIsFine(marked.error());
    TRY(GoneIsFine(source_.Delete(ctx_, graph_.kind(i).resource, node.ns, node.name, {.uid = node.uid})));
    const Json* finalizers = Find(marked->json(), {"metadata", "finalizers"});
    return finalizers == nullptr || finalizers->empty() ? Ok() : Release(i);
  }

  Status Release(size_t i) {
    Json patch;
    Ensure(patch, {"metadata", "finalizers"}) = nullptr;
    auto done = Patch(i, std::move(patch));
    return done.ok() ? Ok() : GoneIsFine(done.error());
  }

  // Those of them that are still there: a controller may have added a finalizer just before the deletion.
  Result<std::vector<size_t>> Left(const std::vector<size_t>& removed) {
    std::set<std::pair<size_t, std::string>> places;
    std::set<size_t> expected(removed.begin(), removed.end());
    for (size_t i : removed) places.insert({graph_.nodes[i].kind, graph_.nodes[i].ns});
    std::vector<size_t> out;
    for (const auto& [kind, ns] : places) {
      TRY(EachObject(ctx_, source_, graph_.kinds[kind].resource, ns, {.metadata_only = true},
                     [&](const kube::Object& object) {
                       auto found = graph_.by_uid.find(object.uid());
                       if (found != graph_.by_uid.end() && expected.contains(found->second))
                         out.push_back(found->second);
                     }));
    }
    return out;
  }

 private:
  Result<kube::Object> Patch(size_t i, Json patch) {
    const Node& node = graph_.nodes[i];
    patch["metadata"]["uid"] = node.uid;  // another one of its name is refused
    return source_.Patch(ctx_, graph_.kind(i).resource, node.ns, node.name, kube::PatchType::kMerge, patch,
                         {.metadata_only = true});
  }

  const Context& ctx_;
  kube::Client& source_;
  const Graph& graph_;
};

std::vector<size_t> Leaving(const Graph& graph, const std::vector<size_t>& group) {
  std::vector<size_t> out;
  for (size_t i : group)
    if (!graph.places[i].stays) out.push_back(i);
  return out;
}

void Tell(const Graph& graph, size_t i, int level, Progress& progress) {
  const Node& node = graph.nodes[i];
  progress.Say(level, "Deleting", {{graph.kind(i).resource.kind, node.name}, {"Namespace", node.ns}});
}

}  // namespace

Status RemoveFromSource(const Context& ctx, kube::Client& source, const Graph& graph, Progress& progress) {
  Remover remover(ctx, source, graph);
  std::vector<size_t> removed;
  for (auto group = graph.groups.rbegin(); group != graph.groups.rend(); ++group) {
    std::vector<size_t> which = Leaving(graph, *group);
    TRY(ForEach(ctx, which, [&](size_t i) -> Status {
      Tell(graph, i, 1, progress);
      Status done = remover.Remove(i);
      return done.ok() ? done : done.error().With("failed to delete " + graph.Describe(i) + " from the source");
    }));
    removed.insert(removed.end(), which.begin(), which.end());
  }
  std::vector<size_t> left = TRY(remover.Left(removed));
  TRY(ForEach(ctx, left, [&](size_t i) { return remover.Release(i); }));
  left = left.empty() ? left : TRY(remover.Left(removed));
  if (left.empty()) return Ok();
  return Error{Code::kUnavailable,
               fmt::format("{} of {} objects are still in the source, {} among them", left.size(), removed.size(),
                           graph.Describe(left.front())),
               {}};
}

void TellRemovals(const Graph& graph, int level, Progress& progress) {
  for (auto group = graph.groups.rbegin(); group != graph.groups.rend(); ++group)
    for (size_t i : Leaving(graph, *group)) Tell(graph, i, level, progress);
}

}  // namespace capi::cli::move
