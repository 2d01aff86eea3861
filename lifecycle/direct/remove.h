// Removes a provider that no operator looks after: as clusterctl finds its objects, with the guards that the operator
// has.
#pragma once

#include <string>
#include <vector>

#include "api/kinds.h"
#include "base/context.h"
#include "kube/client/client.h"
#include "kube/meta/object.h"
#include "lifecycle/deletion.h"
#include "lifecycle/plan/removal.h"

namespace capi::lifecycle {

// What goes, and what has the provider's labels and stays all the same. A value.
struct Removal {
  api::ProviderId id;
  std::vector<kube::ObjectId> objects;  // without CRDs, and without the entry in clusterctl's inventory
  std::vector<kube::ObjectId> crds;     // they go after the objects
  bool entry = false;                   // it goes as well, after everything else
  std::vector<std::string> kept;        // with why
};

// `owned` says why an object isn't only this provider's, beside what KeepsOthers says; "" for one that is.
Result<Removal> PlanRemoval(const Context& ctx, kube::Client& client, const api::ProviderId& id,
                            const RemovalScope& scope, const Keep& owned);

// Objects of workload clusters that need the provider (X2), in words.
Result<std::vector<std::string>> UsersOf(const Context& ctx, kube::Client& client, const api::ProviderId& id);

// The kinds of the provider's CRDs of which there are objects, whoever made them.
Result<std::vector<std::string>> KindsWithObjects(const Context& ctx, kube::Client& client, const api::ProviderId& id);

// X1: brings the objects of the provider's CRDs to the version that is stored now, while its webhooks still convert:
// those stored at an older one could be read by nobody afterwards. Returns the CRDs for which that is to be done; with
// `dry_run` it does nothing else.
Result<std::vector<std::string>> MigrateStorage(const Context& ctx, kube::Client& client, const api::ProviderId& id,
                                                bool dry_run = false);

// Carries it out. It can be repeated: the entry goes when everything else is gone or going. kFailedPrecondition where
// there are objects of the CRDs, which is looked at before the first deletion and again before the CRDs go. Returns
// what finalizers keep, in words.
Result<std::vector<std::string>> Remove(const Context& ctx, kube::Client& client, const Removal& removal,
                                        const Keep& owned);

}  // namespace capi::lifecycle
