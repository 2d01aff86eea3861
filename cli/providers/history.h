// `clusterctl history`: which releases of a provider were applied, and what became of each.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct HistoryOptions {
  ClusterOptions cluster;
  std::vector<std::string> names;  // exactly one
  std::string ns;                  // "" for all
  std::string output = "table";
};

Status History(const Context& ctx, const GlobalOptions& global, const HistoryOptions& options, World& world);

}  // namespace capi::cli
