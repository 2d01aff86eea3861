// upgrade apply --operator=false: the providers are upgraded from here, and no operator is needed (behaviour.md L23).
#pragma once

#include <vector>

#include "cli/frame/config.h"
#include "cli/upgrade/rollout.h"
#include "cli/upgrade/upgrade_plan.h"
#include "lifecycle/direct/release.h"

namespace capi::cli {

// kFailedPrecondition where an operator is there, or an object of its: it is the one to upgrade.
Status CheckUnattended(const Context& ctx, ManagementCluster& cluster, const std::vector<ProviderObject>& objects);

// What is known before anything is written. A value.
struct DirectRollout {
  std::vector<lifecycle::DirectRelease> releases;
  UpgradeRollout told;  // the same for a person; `told.pause`: the contract changes
};

// Fetches and renders each; values of variables come from environment and configuration file. All that is missing of
// any is named at once.
Result<DirectRollout> PrepareDirectUpgrade(const Context& ctx, const Config& config, ManagementCluster& cluster,
                                           const std::vector<UpgradeCandidate>& candidates,
                                           const std::vector<WantedVersion>& wanted, bool dry_run, Notes& notes);

Status UpgradeDirectly(const Context& ctx, ManagementCluster& cluster, const DirectRollout& rollout,
                       const RolloutWait& wait, Notes& notes);

}  // namespace capi::cli
