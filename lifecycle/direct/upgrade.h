// Brings providers that are installed without an operator to other releases, in place.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "lifecycle/direct/release.h"

namespace capi::lifecycle {

inline constexpr std::string_view kPuttingBack = "putting back what was stopped";

// A value.
struct UpgradeOptions {
  bool contract_changes = false;  // then nothing of the providers runs while they change
  // Told what begins, for a person: "scaling down", "upgrading", kPuttingBack. May be null.
  std::function<void(std::string_view what, const Installable& provider)> on_step;
  // Told, for a person, what isn't as it should be and stops nothing. May be null.
  std::function<void(const std::string& what)> on_warning;
  Seconds stop_limit{60};  // for a provider's last pod to end
};

// All of them, or, as far as the server can tell before, none. Objects that are stored at a version which goes are
// rewritten first, while the old pods serve. Where the contract changes, or a CRD stores another version from now on,
// all go to zero replicas before the first is changed, and come back each with its release. The new release is applied
// over the old one; then what it no longer has goes, but no CRD and no Namespace; the entry in clusterctl's inventory
// says the new version last. So a run that is broken off is completed by the same call. Where one doesn't come to zero,
// those that this call has stopped come back; an error says which of the cluster's are at zero else.
Status Upgrade(const Context& ctx, kube::Client& client, const std::vector<DirectRelease>& releases,
               const UpgradeOptions& options);

}  // namespace capi::lifecycle
