// The part of the table of commands below `local` that is about workload clusters: manifests, apply, wait, collect,
// destroy, move.
#pragma once

#include "cli/frame/command_line.h"

namespace capi::cli {

// Adds them below the command `local`, which it makes where it isn't there. `line` must outlive the tree.
void AddLocalClusterCommands(CommandLine& line);

}  // namespace capi::cli
