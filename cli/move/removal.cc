#include "cli/move/removal.h"

#include <fmt/format.h>

#include <set>

#include "cli/move/discover.h"

namespace capi::cli::move {
namespace {

Status GoneIsFine(Status status) { return status.ok() || status.code() != Code::kNotFound ? status : Ok(); }

// An object that changes more often isn't given up by whoever changes it.
constexpr int kTries = 10;

// Removes objects of one graph. Thread-safe.
class Remover {
 public:
  Remover(const Context& ctx, kube::Client& source, const Graph& graph, Transfer& transfer)
      : ctx_(ctx), source_(source), graph_(graph), transfer_(transfer) {}

  // Only as it was copied: what has changed since is copied once more.
  Status Remove(size_t i) {
    std::string version = transfer_.copied_version(i);
    for (int tries = 0; tries < kTries; ++tries) {
      Status done = RemoveAt(i, version);
      if (done.ok() || done.code() != Code::kConflict) return GoneIsFine(done);
      version = TRY(transfer_.CopyAgain(i));
      if (version.empty()) return Ok();
    }
    return Error{Code::kFailedPrecondition, "somebody changes it all the time", {}};
  }

  // How many of them are still there, and one of these.
  Result<std::pair<size_t, size_t>> Left(const std::vector<size_t>& removed) {
    std::set<std::pair<size_t, std::string>> places;
    std::set<size_t> expected(removed.begin(), removed.end());
    for (size_t i : removed) places.insert({graph_.nodes[i].kind, graph_.nodes[i].ns});
    std::pair<size_t, size_t> out;
    for (const auto& [kind, ns] : places) {
      TRY(EachObject(ctx_, source_, graph_.kinds[kind].resource, ns, {.metadata_only = true},
                     [&](const kube::Object& object) {
                       auto found = graph_.by_uid.find(object.uid());
                       if (found == graph_.by_uid.end() || !expected.contains(found->second)) return;
                       out = {out.first + 1, found->second};
                     }));
    }
    return out;
  }

 private:
  // The mark comes first: webhooks let what has it go, and the next run knows what the target has already. Finalizers
  // go last, when no controller can add another one.
  Status RemoveAt(size_t i, const std::string& version) {
    const Node& node = graph_.nodes[i];
    Json mark;
    Ensure(mark, {"metadata", "annotations", kDeleteForMoveAnnotation}) = "";
    Ensure(mark, {"metadata", "resourceVersion"}) = version;
    kube::Object marked = TRY(Patch(i, std::move(mark)));
    TRY(source_.Delete(ctx_, graph_.kind(i).resource, node.ns, node.name,
                       {.uid = node.uid, .resource_version = marked.resource_version()}));
    const Json* finalizers = Find(marked.json(), {"metadata", "finalizers"});
    if (finalizers == nullptr || finalizers->empty()) return Ok();
    Json release;
    Ensure(release, {"metadata", "finalizers"}) = nullptr;
    TRY(Patch(i, std::move(release)));
    return Ok();
  }

  Result<kube::Object> Patch(size_t i, Json patch) {
    const Node& node = graph_.nodes[i];
    patch["metadata"]["uid"] = node.uid;  // another one of its name is refused
    return source_.Patch(ctx_, graph_.kind(i).resource, node.ns, node.name, kube::PatchType::kMerge, patch,
                         {.metadata_only = true});
  }

  const Context& ctx_;
  kube::Client& source_;
  const Graph& graph_;
  Transfer& transfer_;
};

std::vector<size_t> Leaving(const Graph& graph, const std::vector<size_t>& group) {
  std::vector<size_t> out;
  for (size_t i : group)
    if (graph.Leaves(i)) out.push_back(i);
  return out;
}

void Tell(const Graph& graph, size_t i, int level, Progress& progress) {
  const Node& node = graph.nodes[i];
  progress.Say(level, "Deleting", {{graph.kind(i).resource.kind, node.name}, {"Namespace", node.ns}});
}

}  // namespace

Status RemoveFromSource(const Context& ctx, kube::Client& source, const Graph& graph, Transfer& transfer, Claim& claim,
                        Progress& progress) {
  Remover remover(ctx, source, graph, transfer);
  std::vector<size_t> removed;
  for (auto group = graph.groups.rbegin(); group != graph.groups.rend(); ++group) {
    std::vector<size_t> which = Leaving(graph, *group);
    TRY(claim.Check(ctx));
    TRY(ForEach(ctx, which, [&](size_t i) -> Status {
      Tell(graph, i, 1, progress);
      Status done = remover.Remove(i);
      return done.ok() ? done : done.error().With("failed to delete " + graph.Describe(i) + " from the source");
    }));
    removed.insert(removed.end(), which.begin(), which.end());
  }
  auto [left, one] = TRY(remover.Left(removed));
  if (left == 0) return Ok();
  return Error{
      Code::kUnavailable,
      fmt::format("{} of {} objects are still in the source, {} among them", left, removed.size(), graph.Describe(one)),
      {}};
}

void TellRemovals(const Graph& graph, int level, Progress& progress) {
  for (auto group = graph.groups.rbegin(); group != graph.groups.rend(); ++group)
    for (size_t i : Leaving(graph, *group)) Tell(graph, i, level, progress);
}

}  // namespace capi::cli::move
