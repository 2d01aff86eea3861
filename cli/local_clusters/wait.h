// `clusterctl local wait`: until a cluster is as it should be.
#pragma once

#include <string>
#include <vector>

#include "cli/local_clusters/target.h"

namespace capi::cli::local_clusters {

// The flags. A value.
struct WaitOptions {
  TargetOptions target;
  std::vector<std::string> names;  // one at least
  std::string ns;                  // "" for that of the context
  std::string condition = "Available=True", timeout = "30m";
};

// behaviour.md G12.
Status Wait(const Context& parent, const GlobalOptions& global, const WaitOptions& options, World& world);

}  // namespace capi::cli::local_clusters
