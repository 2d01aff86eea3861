// An inventory from what lies in the cluster, for a Provider that has lost its status (behaviour.md U11).
#pragma once

#include <string>
#include <vector>

#include "kube/client/client.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// A value.
struct Rebuilt {
  kube::Inventory inventory;
  std::vector<std::string> unread;  // kinds, or whole groups, whose objects nobody can read now, and why
};

// Every object of any kind that has the provider's labels and our entry in its managedFields. Entries have no hash:
// they say that the object is ours, not that it is as it should be. Kinds that the server has no more, or doesn't let
// us see, are left out. A kind is read at a stored version where the preferred one isn't served at its path, or can't
// be converted to because its CRD's conversion webhook is away (P3). Where that fails too, or the kind is of an
// aggregated API, one server that is away, maybe nobody's of ours, must not stand in the way of all: it is told of in
// `unread`. Any other failure fails the whole, so that an inventory isn't half of one by chance. What another
// provider's inventory has is never among them: a duplicate has the same labels. Says so in the log.
Result<Rebuilt> RebuildInventory(const Context& ctx, kube::Client& client, const Observation& o);

}  // namespace capi::ops
