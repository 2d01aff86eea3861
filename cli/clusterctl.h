// The frame of clusterctl: its commands and its exit codes.
#pragma once

#include "cli/frame/world.h"

namespace capi::cli {

// Runs a command line. 0 for success; 1 with "Error: ..." on `world.err` for anything else.
int RunClusterctl(int argc, const char* const* argv, World world);

}  // namespace capi::cli
