// `clusterctl local down`: ends a plane.
#pragma once

#include <string>

#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct LocalDownOptions {
  std::string folder;
  bool deletes = false;  // the plane's files, too
};

// behaviour.md G8. One that doesn't run is success. kFailedPrecondition, before anything is ended, where a plane that
// runs is to be deleted and has Clusters, or can't be asked for them.
Status LocalDown(const Context& ctx, const LocalDownOptions& options, World& world);

}  // namespace capi::cli
