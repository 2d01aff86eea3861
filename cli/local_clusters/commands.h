// The part of the table of commands below `local` that is about workload clusters: manifests, apply, wait, collect,
// destroy, move.
#pragma once

#include "cli/frame/command_line.h"

namespace capi::cli {

// Adds them below `local`. `line` must outlive the tree.
void AddLocalClusterCommands(CommandLine& line, CLI::App& local);

}  // namespace capi::cli
