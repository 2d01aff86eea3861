// The two clusterctl programs that tests run: the one under test, and Cluster API's.
#pragma once

#include <string>

#include "base/result.h"

namespace capi::e2e {

// Path of CAPI_CLUSTERCTL, else of this build's. Thread-safe.
std::string OurClusterctlPath();
// Path of the pinned one, which tools/assets has made before. Never the one in PATH, which may be any, ours too.
// Thread-safe.
Result<std::string> RealClusterctlPath();

}  // namespace capi::e2e
