// Which build this is.
#pragma once

#include <string>

namespace capi {

// A value.
struct BuildInfo {
  std::string version;     // "v0.1.0"
  std::string commit;      // hash, "" where unknown
  std::string tree_state;  // "clean" or "dirty", "" where unknown
  std::string date;        // of the commit, RFC 3339, "" where unknown
  std::string compiler;    // "gcc 12.2.0"
  std::string platform;    // "linux/amd64"
};

// Of the program that this runs in. What links it (this_build) is linked anew for each commit. Thread-safe.
BuildInfo ThisBuild();

}  // namespace capi
