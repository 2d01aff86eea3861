// The frame of clusterctl: its commands and its exit codes.
#pragma once

#include <iosfwd>

namespace capi::cli {

// Runs a command line. 0 for success; 1 with "Error: ..." on `err` for anything else.
int RunClusterctl(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

}  // namespace capi::cli
