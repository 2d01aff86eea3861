// Commands about upgrades: upgrade plan, upgrade apply, rollback.
#pragma once

#include "cli/frame/command_line.h"

namespace capi::cli {

// Adds them. `line` must outlive the tree.
void AddUpgradeCommands(CommandLine& line);

}  // namespace capi::cli
