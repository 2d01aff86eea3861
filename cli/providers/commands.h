// Commands about providers: config repositories, why, history.
#pragma once

#include "cli/frame/command_line.h"

namespace capi::cli {

// Adds them. `line` must outlive the tree.
void AddProviderCommands(CommandLine& line);

}  // namespace capi::cli
