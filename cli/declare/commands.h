// Commands that work on declared Provider objects: lint, convert, adopt, diff.
#pragma once

#include "cli/frame/command_line.h"

namespace capi::cli {

// Adds them. `line` must outlive the tree.
void AddDeclareCommands(CommandLine& line);

}  // namespace capi::cli
