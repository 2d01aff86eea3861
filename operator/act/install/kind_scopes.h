// Which kinds have no namespace, for a render (behaviour.md I8): asked of the cluster after the render, never in it.
#pragma once

#include <map>
#include <set>

#include "kube/client/rest_mapper.h"
#include "templating/scope.h"

namespace capi::ops {

// One render at a time has its turn, and a slow answer must not hold it. So the render takes what is known without a
// request; a kind that isn't known counts as one with a namespace, and is asked for afterwards. Where it has none, the
// objects were given a wrong identity: they are to be rendered again. Of one installation; outlives its lookups.
// Thread-compatible.
class KindScopes {
 public:
  explicit KindScopes(kube::RestMapper& mapper) : mapper_(mapper) {}

  templating::ScopeLookup Lookup();
  // Nothing is to be asked for: what was rendered is right.
  bool settled() const { return asked_for_.empty(); }
  // Asks for what wasn't known. False: render again, with a new lookup. An error where the cluster can't say now: it
  // must not be taken for an answer.
  Result<bool> Settle(const Context& ctx);

 private:
  kube::RestMapper& mapper_;
  std::set<kube::GroupKind> asked_for_;                            // since the last Settle
  std::map<kube::GroupKind, std::optional<bool>> cluster_scoped_;  // what the cluster said; nullopt: no such kind
};

}  // namespace capi::ops
