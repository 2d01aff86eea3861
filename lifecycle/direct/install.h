// Brings a provider into a cluster, without an operator.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lifecycle/direct/release.h"

namespace capi::lifecycle {

// All of the release, in stages, and the entry in clusterctl's inventory last: what a crash leaves is told by the entry
// that is missing, and the same call completes it. What is there already is brought to what the release says.
// CheckKinds comes before, and whether the providers fit together.
Status Install(const Context& ctx, kube::Client& client, const DirectRelease& release);

// The same in two steps: all but the entry, and the entry.
Status InstallObjects(const Context& ctx, kube::Client& client, const DirectRelease& release);
Status Record(const Context& ctx, kube::Client& client, const DirectRelease& release);

// Waits until the release's workloads are available, each for `limit` at most. kDeadlineExceeded says what one of them
// says of itself.
Status AwaitAvailable(const Context& ctx, kube::Client& client, const DirectRelease& release, Millis limit);
Status AwaitAvailable(const Context& ctx, kube::Client& client, const std::vector<kube::Manifest>& manifests,
                      Millis limit);

// The same of a provider that is installed, whatever its release. `warn` is told, for a person, where there is nothing
// to wait for.
Status AwaitAvailable(const Context& ctx, kube::Client& client, const api::ProviderId& id, Millis limit,
                      const std::function<void(const std::string& what)>& warn);

}  // namespace capi::lifecycle
