// What has to hold before a move begins. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/frame/management_cluster.h"
#include "cli/move/graph.h"

namespace capi::cli::move {

// Why a move between `ends` can't begin with these objects, a sentence for each; none where it can. What is the copy
// that a move back had made isn't ready as long as its Cluster is paused; nor is that asked where `was_ready`.
std::vector<std::string> Hindrances(const Graph& graph, const Ends& ends, const std::function<bool(size_t)>& was_ready);

// Those that leave the source and that `run` hasn't paused with a record, or that somebody resumed: a sentence for
// each.
std::vector<std::string> NotHeld(const Graph& graph, const std::string& run);

// What leaves the source by `now` and didn't by `before`.
std::vector<size_t> Came(const Graph& before, const Graph& now);

// The same of the providers: the target has each of the source's, at its version or a newer one. kInvalidArgument for
// an inventory with a version that is none.
Result<std::vector<std::string>> LacksOfProviders(const std::vector<InstalledProvider>& source,
                                                  const std::vector<InstalledProvider>& target);

// One error of several sentences; Ok for none. Tells `most` of them.
Status Refuse(const std::string& what, const std::vector<std::string>& why, size_t most = 10);

}  // namespace capi::cli::move
