// Commands that print trees: describe cluster, describe providers.
#pragma once

#include "cli/frame/command_line.h"

namespace capi::cli {

// Adds them. `line` must outlive the tree.
void AddDescribeCommands(CommandLine& line);

}  // namespace capi::cli
