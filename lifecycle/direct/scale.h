// Takes a provider's pods away and brings them back (behaviour.md L23).
#pragma once

#include <set>

#include "lifecycle/direct/release.h"

namespace capi::lifecycle {

// Those with the provider's labels, in its namespace.
Result<std::vector<kube::Object>> DeploymentsOf(const Context& ctx, kube::Client& client, const api::ProviderId& id);

// All Deployments with the provider's labels go to zero replicas, with what they had in an annotation; `stopped` gets
// those that weren't there before, also when an error is returned. Returns when none of their pods is left, those that
// are terminating among them, but not those that have ended: nothing takes these away. kDeadlineExceeded after `limit`
// names one that is left.
Status ScaleDown(const Context& ctx, kube::Client& client, const api::ProviderId& id, Seconds limit,
                 std::set<kube::ObjectId>& stopped);

// These come back as they were.
Status ScaleBack(const Context& ctx, kube::Client& client, const api::ProviderId& id,
                 const std::set<kube::ObjectId>& stopped);

// Whether one of a provider's Deployments went to zero and hasn't come back, in this run or an earlier one.
bool IsAtZero(const std::vector<kube::Object>& deployments);

// The manifests as they are to be applied: without a count of replicas where the live workload is at zero, or somebody
// has set one through the scale subresource (D1).
Result<std::vector<kube::Manifest>> KeepReplicas(const Context& ctx, kube::Client& client,
                                                 const DirectRelease& release);

// Those that went to zero come back, also after a run that was broken off; but none that the release has no more, and
// that a prune therefore takes.
Status ScaleUp(const Context& ctx, kube::Client& client, const DirectRelease& release);

}  // namespace capi::lifecycle
