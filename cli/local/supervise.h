// `clusterctl local supervise`: the process that runs a plane. `up` starts it; people don't.
#pragma once

#include <string>

#include "cli/frame/world.h"

namespace capi::cli {

// behaviour.md G3. Runs until SIGTERM. Reads no configuration: `up` has, and the one of `up` may be another.
Status SupervisePlane(const std::string& folder, World& world);

}  // namespace capi::cli
