// Brings Provider objects that an older operator stored as v1alpha1 to v1alpha2 (behaviour.md U3).
#pragma once

#include "kube/client/client.h"

namespace capi::ops {

// Rewrites the objects of our own CRDs, then takes the former version out of status.storedVersions. A CRD of which that
// fails - the conversion webhook is away, say - is tried again after 1 s, 2 s and so on to ten minutes. Blocks until
// the context stops. For the leader alone.
void MigrateOwnStorage(const Context& ctx, kube::Client& client);

}  // namespace capi::ops
