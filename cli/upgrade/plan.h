// `clusterctl upgrade plan`: what could be upgraded, contract by contract.
#pragma once

#include <string>

#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct UpgradePlanOptions {
  ClusterOptions cluster;
  std::string output = "table";
};

// behaviour.md L12. It asks, and writes nothing.
Status PrintUpgradePlan(const Context& ctx, const GlobalOptions& global, const UpgradePlanOptions& options,
                        World& world);

}  // namespace capi::cli
