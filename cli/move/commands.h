// The part of clusterctl's table of commands that this folder brings: `move`.
#pragma once

#include "cli/frame/command_line.h"

namespace capi::cli {

void AddMoveCommands(CommandLine& line);

}  // namespace capi::cli
