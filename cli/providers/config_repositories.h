// `clusterctl config repositories`: the providers that there are, and where their releases come from.
#pragma once

#include <string>

#include "cli/frame/world.h"

namespace capi::cli {

// `output`: as ParseOutputFormat takes it.
Status ConfigRepositories(const Context& ctx, const GlobalOptions& global, const std::string& output, World& world);

}  // namespace capi::cli
