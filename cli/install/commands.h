// The part of the table of commands that is about bringing a management cluster up.
#pragma once

#include "cli/frame/command_line.h"
#include "cli/install/choose.h"

namespace capi::cli {

// init, init list-images, upgrade operator.
void AddInstallCommands(CommandLine& line);

// A flag for each type of providers. `defaults`: whether some are taken where none is named.
void AddProviderFlags(CommandLine& line, CLI::App& command, ProviderFlags& providers, bool defaults);

}  // namespace capi::cli
