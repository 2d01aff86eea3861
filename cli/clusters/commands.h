// Commands about workload clusters: get, alpha rollout.
#pragma once

#include "cli/frame/command_line.h"

namespace capi::cli {

// Adds them. `line` must outlive the tree.
void AddClusterCommands(CommandLine& line);

}  // namespace capi::cli
