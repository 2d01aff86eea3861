// Clusters and ClusterClasses are paused while they move, so that no controller changes what they own, there or here.
#pragma once

#include <string>
#include <vector>

#include "cli/move/claim.h"
#include "cli/move/graph.h"
#include "cli/move/work.h"
#include "kube/client/client.h"

namespace capi::cli::move {

// Pauses those of the source that leave it, and writes `ends` and `run` down on them: who looked at them before, to
// resume them, finds them changed. What is paused already is recorded as such. What a move back has written down of
// where it came from stays: it says that these are its copies.
Status PauseSource(const Context& ctx, kube::Client& source, const Graph& graph, const Ends& ends,
                   const std::string& run);

// Whose pause is taken back. A value.
struct Whose {
  Ends ends;               // that of moves between these
  Claim* claim = nullptr;  // is held while each object is resumed; null with a directory
  bool this_run = false;   // only what the claim's run has paused
};

// Resumes all of the namespace that such a move has paused, but for those that were paused before, and removes what it
// wrote down. Gives the number of Clusters.
Result<size_t> ResumeAll(const Context& ctx, kube::Client& cluster, const Whose& whose, const std::string& ns,
                         Progress& progress);
// The same of those alone that the graph has.
Result<size_t> ResumeGraph(const Context& ctx, kube::Client& cluster, const Whose& whose, const Graph& graph,
                           Progress& progress);
// The same of those that stay in the source: a run that was interrupted may have paused them, when they were to leave.
Result<size_t> ResumeStaying(const Context& ctx, kube::Client& source, const Whose& whose, const Graph& graph,
                             Progress& progress);

// Waits until no object of the source says any more that its provider is not ready. kFailedPrecondition names one that
// does after six minutes.
Status AwaitUnblocked(const Context& ctx, kube::Client& source, const Graph& graph, Progress& progress);

}  // namespace capi::cli::move
