// The end of a move in the source: what the target has now is taken away, those that own others last.
#pragma once

#include "cli/move/claim.h"
#include "cli/move/graph.h"
#include "cli/move/transfer.h"
#include "cli/move/work.h"
#include "kube/client/client.h"

namespace capi::cli::move {

// Finalizers are removed, so that no provider takes away what an object stands for. What is gone already is no error.
// What changed since `transfer` copied it is copied again before. Objects of the same name that came since the graph
// was read stay. kFailedPrecondition where another run has taken over `claim`.
Status RemoveFromSource(const Context& ctx, kube::Client& source, const Graph& graph, Transfer& transfer, Claim& claim,
                        Progress& progress);

// Says what it would do.
void TellRemovals(const Graph& graph, int level, Progress& progress);

}  // namespace capi::cli::move
