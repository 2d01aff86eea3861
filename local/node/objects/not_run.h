// StatefulSets, DaemonSets and Jobs, which a local plane doesn't run (behaviour.md G4).
#pragma once

#include "kube/client/client.h"

namespace capi::local {

// Gives each of them a Pod that is Pending, and says why, until the context stops: whoever waits for one finds the
// reason where a cluster would have it. What can't be written now is tried again. Throws where a part of it can't go
// on.
void KeepNotRun(const Context& ctx, kube::Client& client);

// The Pod for `workload`: NAME-KIND-not-run, since a StatefulSet and a Job may have one name.
kube::Object PodThatIsNotRun(const kube::Object& workload);

}  // namespace capi::local
