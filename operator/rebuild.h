// An inventory from what lies in the cluster, for a Provider that has lost its status (behaviour.md U11).
#pragma once

#include "kube/client/client.h"
#include "operator/observation.h"

namespace capi::ops {

// Every object of any kind that has the provider's labels and our entry in its managedFields. Entries have no hash:
// they say that the object is ours, not that it is as it should be. Kinds that can't be listed are left out when the
// server has them no more or doesn't let us; any other failure fails the whole, so that an inventory is never half of
// one.
// What another provider's inventory has is never among them: a duplicate has the same labels.
Result<kube::Inventory> RebuildInventory(const Context& ctx, kube::Client& client, const Observation& o);

}  // namespace capi::ops
