// `clusterctl local supervise`: the process that runs a plane. `up` starts it; people don't.
#pragma once

#include <string>

#include "cli/frame/world.h"

namespace capi::cli {

// behaviour.md G3. Runs until SIGTERM.
Status SupervisePlane(const GlobalOptions& global, const std::string& folder, World& world);

}  // namespace capi::cli
