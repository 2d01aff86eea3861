// `clusterctl describe providers --watch`.
#pragma once

#include <string>

#include "cli/describe/providers/providers_picture.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/world.h"

namespace capi::cli::describe {

// Shows the providers of `ns` ("" for all), and again with each change, until `ctx` is stopped, which is no error. An
// outage is waited out, and told. Any other failure ends it, as does one of the first look.
Status WatchProviders(const Context& ctx, ManagementCluster& cluster, const std::string& ns,
                      const PictureOptions& options, World& world);

}  // namespace capi::cli::describe
