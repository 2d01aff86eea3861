// `clusterctl local apply`: a folder of manifests becomes a cluster, stage by stage, with hooks between.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/world.h"
#include "cli/local_clusters/target.h"

namespace capi::cli::local_clusters {

// The flags. A value.
struct ApplyOptions {
  TargetOptions target;
  std::vector<std::string> folders;  // exactly one
  std::vector<std::string> timeouts, hooks;
  bool collect = true;  // where it fails
};

// behaviour.md G11.
Status Apply(const Context& parent, const GlobalOptions& global, const ApplyOptions& options, World& world);

}  // namespace capi::cli::local_clusters
