// The part of the table of commands that is about clusters which reach no server.
#pragma once

#include "cli/frame/command_line.h"

namespace capi::cli {

// preload, publish, bundle create, bundle load, bundle list-images. `line` must outlive the tree.
void AddAirGapCommands(CommandLine& line);

}  // namespace capi::cli
