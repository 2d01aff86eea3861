// Takes a provider's pods away and brings them back (behaviour.md L23).
#pragma once

#include "lifecycle/direct/release.h"

namespace capi::lifecycle {

// All Deployments with the provider's labels go to zero replicas, with what they had in an annotation. Returns when
// none of their pods is left, those that are terminating among them; kDeadlineExceeded after a minute names those that
// have some.
Status ScaleDown(const Context& ctx, kube::Client& client, const api::ProviderId& id);

// The manifests as they are to be applied: without a count of replicas where the live workload is at zero, or somebody
// has set one through the scale subresource (D1).
Result<std::vector<kube::Manifest>> KeepReplicas(const Context& ctx, kube::Client& client,
                                                 const DirectRelease& release);

// Those that went to zero come back, also after a run that was broken off; but none that the release has no more, and
// that a prune therefore takes.
Status ScaleUp(const Context& ctx, kube::Client& client, const DirectRelease& release);

}  // namespace capi::lifecycle
