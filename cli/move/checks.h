// What has to hold before a move begins. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/management_cluster.h"
#include "cli/move/graph.h"

namespace capi::cli::move {

// Why a move between `ends` can't begin with these objects, a sentence for each; none where it can. A Cluster on which
// such a move goes on has passed the check of its readiness, with its Machines.
std::vector<std::string> Hindrances(const Graph& graph, const Ends& ends);

// What leaves the source by `now` and didn't by `before`.
std::vector<size_t> Came(const Graph& before, const Graph& now);

// The same of the providers: the target has each of the source's, at its version or a newer one. kInvalidArgument for
// an inventory with a version that is none.
Result<std::vector<std::string>> LacksOfProviders(const std::vector<InstalledProvider>& source,
                                                  const std::vector<InstalledProvider>& target);

// One error of several sentences; Ok for none. Tells `most` of them.
Status Refuse(const std::string& what, const std::vector<std::string>& why, size_t most = 10);

}  // namespace capi::cli::move
