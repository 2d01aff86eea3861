// The commands below `generate`.
#pragma once

#include "cli/frame/command_line.h"

namespace capi::cli {

// Adds them. `line` must outlive the tree.
void AddGenerateCommands(CommandLine& line);

}  // namespace capi::cli
