// The table of clusterctl's commands.
#pragma once

#include "cli/frame/command_line.h"

namespace capi::cli {

// Adds all of them. `line` must outlive the tree.
void AddCommands(CommandLine& line);

}  // namespace capi::cli
