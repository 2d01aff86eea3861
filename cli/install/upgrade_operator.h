// `clusterctl upgrade operator`: this program's own manifests of the operator over those that are there.
#pragma once

#include <string>

#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct UpgradeOperatorOptions {
  ClusterOptions cluster;
  std::string operator_image;
};

// behaviour.md L11.
Status UpgradeOperator(const Context& parent, const GlobalOptions& global, const UpgradeOperatorOptions& options,
                       World& world);

}  // namespace capi::cli
