// Brings Provider objects that an older operator stored as v1alpha1 to v1alpha2 (behaviour.md U3).
#pragma once

#include "kube/client/client.h"

namespace capi::ops {

// Rewrites the objects of our own CRDs, then takes the former version out of status.storedVersions. Where that fails -
// the conversion webhook is away, say - it is tried again after 1 s, 2 s and so on to ten minutes. Each ten minutes all
// CRDs are looked at anew, with a request each: one may store another version since. Blocks until the context stops.
// For the leader alone.
void MigrateOwnStorage(const Context& ctx, kube::Client& client);

}  // namespace capi::ops
