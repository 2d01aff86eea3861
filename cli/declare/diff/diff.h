// `clusterctl diff`: what an apply of a version, or of a Provider file, would change in the cluster.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct DiffOptions {
  ClusterOptions cluster;
  std::vector<std::string> names;  // "aws", "aws:v2.11.1"
  std::vector<std::string> files;  // -f
  std::string ns;                  // of the provider; "" for all, and for that of the context in files that name none
};

// behaviour.md L18. True where there is a difference; all that differs is printed before an error.
Result<bool> Diff(const Context& ctx, const GlobalOptions& global, const DiffOptions& options, World& world);

}  // namespace capi::cli
