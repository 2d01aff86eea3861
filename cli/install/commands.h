// The part of the table of commands that is about bringing a management cluster up.
#pragma once

#include "cli/frame/command_line.h"

namespace capi::cli {

// init, init list-images, upgrade operator.
void AddInstallCommands(CommandLine& line);

}  // namespace capi::cli
