// Clusters and ClusterClasses are paused while they move, so that no controller changes what they own, there or here.
#pragma once

#include <string>
#include <vector>

#include "cli/move/graph.h"
#include "cli/move/work.h"
#include "kube/client/client.h"

namespace capi::cli::move {

// Pauses those of the source that leave it, and writes `ends` down on them. What is paused already is recorded as such.
Status PauseSource(const Context& ctx, kube::Client& source, const Graph& graph, const Ends& ends);

// Where ResumeAll looks for Clusters.
using Namespaces = std::set<std::string>;

// Resumes all on which a move between `ends` goes on, but for those that were paused before: Clusters in these
// namespaces, and ClusterClasses in any. Gives the number of Clusters.
Result<size_t> ResumeAll(const Context& ctx, kube::Client& cluster, const Ends& ends, const Namespaces& namespaces,
                         Progress& progress);

// Waits until no object of the source says any more that its provider is not ready. kFailedPrecondition names one that
// does after six minutes.
Status AwaitUnblocked(const Context& ctx, kube::Client& source, const Graph& graph, Progress& progress);

}  // namespace capi::cli::move
