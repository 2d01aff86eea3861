// `clusterctl init list-images`: the images that init brings into a cluster. Asks no cluster.
#pragma once

#include <set>
#include <string>

#include "cli/frame/config.h"
#include "cli/frame/world.h"
#include "cli/install/init.h"

namespace capi::cli {

// One image a line, sorted, each once: of the providers (the defaults of a first run among them), of cert-manager
// unless it is left out, and of the operator where a registry is named for it.
Status ListInitImages(const Context& ctx, const GlobalOptions& global, const InitOptions& options, World& world);

// Those of them that are no provider's: cert-manager's and the operator's.
Result<std::set<std::string>> ImagesBesideProviders(const Context& ctx, const Config& config,
                                                    const InitOptions& options, Notes& notes);

}  // namespace capi::cli
