// The Node "local" of a plane, and its heartbeat (behaviour.md G4).
#pragma once

#include "kube/client/client.h"

namespace capi::local {

// Makes the Node where it isn't there, says that it is Ready, and renews its Lease each 10 s, until the context stops.
// What fails is tried again.
void KeepNode(const Context& ctx, kube::Client& client);

}  // namespace capi::local
