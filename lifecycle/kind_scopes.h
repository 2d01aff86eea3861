// Which kinds have no namespace, for a render (behaviour.md I8): asked of the cluster after the render, never in it.
#pragma once

#include <map>
#include <set>

#include "kube/apply/inventory.h"
#include "kube/client/rest_mapper.h"
#include "templating/scope.h"

namespace capi::lifecycle {

// One render at a time has its turn, and a slow answer must not hold it. So the render takes what is known without a
// request; a kind that isn't known counts as one with a namespace, and is asked for afterwards. Where it has none, the
// objects were given a wrong identity: they are to be rendered again. Of one installation; outlives its lookups, and
// lives no longer than its arguments. Thread-compatible.
class KindScopes {
 public:
  // `applied`: what the provider has in the cluster. For a kind that the cluster doesn't have now it says what it was.
  KindScopes(kube::RestMapper& mapper, const kube::Inventory& applied) : mapper_(mapper), applied_(applied) {}

  templating::ScopeLookup Lookup();
  // Nothing is to be asked for: what was rendered is right.
  bool settled() const { return asked_for_.empty(); }
  // Asks for what wasn't known. False: render again, with a new lookup. An error where the cluster can't say now: it
  // must not be taken for an answer.
  Result<bool> Settle(const Context& ctx);

 private:
  std::optional<bool> WasClusterScoped(const kube::GroupKind& kind) const;

  kube::RestMapper& mapper_;
  const kube::Inventory& applied_;
  std::set<kube::GroupKind> asked_for_;                            // since the last Settle
  std::map<kube::GroupKind, std::optional<bool>> cluster_scoped_;  // what the answer was; nullopt: no such kind
};

}  // namespace capi::lifecycle
