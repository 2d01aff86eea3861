// `clusterctl alpha rollout`: machines are replaced though nothing changed (restart), or not replaced for now (pause,
// resume).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cli/frame/world.h"
#include "kube/meta/object.h"
#include "kube/meta/resource.h"

namespace capi::cli {

enum class RolloutAction { kRestart, kPause, kResume };

enum class RolloutKind { kMachineDeployment, kKubeadmControlPlane };

// What is rolled out. A value.
struct RolloutTarget {
  RolloutKind kind = RolloutKind::kMachineDeployment;
  std::string name;
  bool operator==(const RolloutTarget&) const = default;
};

// The flags. A value.
struct RolloutOptions {
  ClusterOptions cluster;
  std::vector<std::string> resources;  // "machinedeployment/md-1"; one at least
  std::string ns;
};

// The kinds that can be rolled out.
std::vector<kube::Resource> RolloutResources();

// "machinedeployment/md-1", each of them once; kInvalidArgument in clusterctl's words.
Result<std::vector<RolloutTarget>> ParseRolloutTargets(const std::vector<std::string>& resources);

// The merge patch that does it. kFailedPrecondition where the object's state forbids it: what is paused isn't
// restarted, nor what is to be restarted later; only what isn't paused can be, and the other way round.
Result<Json> RolloutPatch(RolloutAction action, const RolloutTarget& target, const kube::Object& object, WallTime now);

// Looks at all of them before it changes the first (behaviour.md L8).
Status Rollout(const Context& ctx, const GlobalOptions& global, RolloutAction action, const RolloutOptions& options,
               World& world);

}  // namespace capi::cli
