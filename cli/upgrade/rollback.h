// `clusterctl rollback`: a provider goes back to a version that was good.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/frame/provider_objects.h"
#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct RollbackOptions {
  ClusterOptions cluster;
  std::vector<std::string> names;  // exactly one
  std::string ns;                  // "" for all
  std::string to_version;          // "" for the last good one
  bool yes = false, dry_run = false, wait_providers = false;
  int wait_provider_timeout = 300;  // seconds
};

// The newest version in the history that came up, and isn't the one that is declared; kFailedPrecondition where there
// is none. Pure.
Result<std::string> LastGoodVersion(const ProviderObject& object);

// behaviour.md L14. All is checked, and a person is asked, before the first write.
Status Rollback(const Context& ctx, const GlobalOptions& global, const RollbackOptions& options, World& world);

}  // namespace capi::cli
