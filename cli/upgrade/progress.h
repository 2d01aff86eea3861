// How upgrades go on in the cluster, told as it changes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/frame/provider_objects.h"

namespace capi::cli {

// A provider that is on its way to a version. A value.
struct AwaitedUpgrade {
  api::ProviderId id;
  std::string version;          // "": whichever is installed
  std::int64_t generation = 0;  // of the spec that was written; an older status says nothing of it
  // The status as it was before the write. Annotations raise no generation: what they are to change may still be said.
  std::optional<api::ProviderStatus> before = std::nullopt;
};

enum class UpgradeStage {
  kPending,    // not yet
  kInstalled,  // every object of the version is applied, and its pods have come up
  kReady,      // and nothing else holds it back
  kRefused,    // only a change lets the operator go on (condition Stalled)
};

// Whether the change that was begun last hasn't come up: what is installed by the status is what was there before it.
bool IsUnderWay(const api::ProviderStatus& status);

// By the status alone.
UpgradeStage StageOf(const api::Provider& provider, const AwaitedUpgrade& awaited);

// "v1.11.0: Upgrading, Deployment ... isn't ready": what a person is told of it.
std::string TellStatus(const api::Provider& provider);

// Waits by watching until all have come to `wanted` (kInstalled or kReady), and tells each change. The time counts anew
// with each provider that has come there. kDeadlineExceeded and kFailedPrecondition name those that haven't;
// kCancelled: `ctx` has been stopped.
Status AwaitUpgrades(const Context& ctx, kube::Client& client, const std::vector<AwaitedUpgrade>& awaited,
                     UpgradeStage wanted, Seconds timeout, Notes& notes);

}  // namespace capi::cli
