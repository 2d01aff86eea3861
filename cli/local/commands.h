// Commands of the plane of plain processes on this machine: local up, status, logs, down.
#pragma once

#include "cli/frame/command_line.h"

namespace capi::cli {

// Adds them below a command `local`, which it makes. `line` must outlive the tree.
void AddLocalCommands(CommandLine& line);

}  // namespace capi::cli
