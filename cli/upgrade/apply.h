// `clusterctl upgrade apply`: upgrades providers by their provider objects, or, without an operator, itself.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct UpgradeApplyOptions {
  ClusterOptions cluster;
  std::string contract;
  std::map<api::ProviderType, std::vector<std::string>> providers;  // NAME:VERSION, NAMESPACE/NAME:VERSION
  bool wait_providers = false;
  int wait_provider_timeout = 300;  // seconds
  bool dry_run = false;
  bool with_operator = true;
};

// behaviour.md L13, and L23 without an operator. All is checked before the first write.
Status ApplyUpgrade(const Context& ctx, const GlobalOptions& global, const UpgradeApplyOptions& options, World& world);

}  // namespace capi::cli
