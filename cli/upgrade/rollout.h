// A set of provider objects on their way to other versions: whether they have to be paused meanwhile, what it changes,
// and how it is carried out.
#pragma once

#include <string>
#include <vector>

#include "cli/upgrade/progress.h"
#include "cli/upgrade/target.h"

namespace capi::cli {

// A value.
struct UpgradeRollout {
  std::vector<ProviderObject> fleet;  // all that the cluster has
  std::vector<UpgradeTarget> targets;
  bool pause = false;            // all are at zero replicas while the contract changes
  bool rollback = false;         // which is noted on the targets until it is done
  bool allow_downgrade = false;  // by this run, which forbids it again afterwards
  std::string again;             // what goes on after an interruption: "run the same command again"
};

// A value.
struct RolloutWait {
  bool ready = false;  // until all is Ready, and not only installed
  Seconds timeout{300};
};

// Whether no order of these moves keeps the golden rule (behaviour.md C3). Pure. kFailedPrecondition where a pause
// wouldn't help either.
Result<bool> NeedsPause(const std::vector<ProviderObject>& fleet, const std::vector<UpgradeTarget>& targets);

// kFailedPrecondition where a pause that takes in all of them would never be complete: the operator's hands are off one
// that runs, or it is being deleted. Pure.
Status CheckPausable(const std::vector<ProviderObject>& fleet);

// Whether an earlier run left work behind: a provider that it paused.
bool IsUnfinished(const std::vector<ProviderObject>& fleet);

// Whether the operator goes on with all that such a run has written. One that was broken off in the middle has paused
// only some, and these wait for the others.
bool IsAllWritten(const std::vector<ProviderObject>& fleet);

// For --dry-run. No values of variables.
std::string AsText(const UpgradeRollout& rollout);

// Variables, releases, then specs; waits; ends the pause. What an earlier run left behind goes on with it. kCancelled
// and other errors say what goes on in the cluster, and how to go on.
Status CarryOut(const Context& ctx, ManagementCluster& cluster, const UpgradeRollout& rollout, const RolloutWait& wait,
                Notes& notes);

}  // namespace capi::cli
