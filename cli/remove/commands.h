// The commands that take providers out of a management cluster.
#pragma once

#include "cli/frame/command_line.h"

namespace capi::cli {

void AddRemovalCommands(CommandLine& line);

}  // namespace capi::cli
