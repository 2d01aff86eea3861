// `clusterctl adopt`: Provider objects for what clusterctl installed, so that capi-operator takes it over.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct AdoptOptions {
  ClusterOptions cluster;
  std::vector<std::string> names;
  bool all = false;
  bool dry_run = false;
};

// behaviour.md A1, L21. Nothing is written before it is known that everything can be.
Status Adopt(const Context& ctx, const GlobalOptions& global, const AdoptOptions& options, World& world);

}  // namespace capi::cli
