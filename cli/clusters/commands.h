// Commands about workload clusters: get, alpha rollout.
#pragma once

#include "cli/frame/command_line.h"

namespace capi::cli {

// What to use instead of a command of older clusterctls.
inline constexpr std::string_view kNoTopologyPlan =
    "`clusterctl alpha topology plan` isn't offered; Cluster API's clusterctl has none since v1.11 either. Instead, "
    "apply the change in a management cluster for trials, with credentials that can create nothing, and look at what "
    "becomes of it with `clusterctl describe cluster`";

// Adds them. `line` must outlive the tree.
void AddClusterCommands(CommandLine& line);

}  // namespace capi::cli
