// `clusterctl why`: what holds a provider back, and what to do about it.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/provider_objects.h"
#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct WhyOptions {
  ClusterOptions cluster;
  std::vector<std::string> names;  // exactly one
  std::string ns;                  // "" for all
  std::string output = "table";
};

// behaviour.md L9: what advice/explain.h makes of each provider of that name.
Status Why(const Context& ctx, const GlobalOptions& global, const WhyOptions& options, World& world);

}  // namespace capi::cli
