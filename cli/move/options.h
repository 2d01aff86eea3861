// Which flags of `clusterctl move` go together. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/move/move.h"

namespace capi::cli::move {

// kInvalidArgument for flags that don't.
Status CheckOptions(const MoveOptions& options);

// A sentence for each flag that says nothing beside the others. Cluster API's clusterctl accepts these.
std::vector<std::string> Meaningless(const MoveOptions& options);

}  // namespace capi::cli::move
