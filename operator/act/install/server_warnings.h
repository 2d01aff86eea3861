// What the API server warned of while it took a provider's objects (behaviour.md F9): told until the object is sent
// again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/types.h"
#include "base/mutex.h"
#include "kube/apply/apply.h"

namespace capi::ops {

// An apply sends what differs alone, and an upgrade is sent in stages: a warning belongs to its object, not to a pass.
// In memory; ten for each object at most. Thread-safe.
class ServerWarnings {
 public:
  // `changes` of an apply: what was sent, with its warnings or none any more. What `inventory` no longer has, or is to
  // be pruned, is forgotten. Returns false where it knows less than what was said before: after a restart, until
  // something is sent.
  bool Note(const std::string& provider, const std::vector<kube::Change>& changes, const kube::Inventory& inventory);
  // Each with its object; after ten just how many more.
  void AddTo(const std::string& provider, std::vector<std::string>& warnings) const;
  void Forget(const std::string& provider);

 private:
  using Warnings = std::map<kube::ObjectId, std::vector<std::string>>;
  mutable Mutex mu_;
  std::map<std::string, Warnings> warnings_ CAPI_GUARDED_BY(mu_);  // of those for which something was sent
};

// Condition Warnings says all of `warnings`, and maybe more.
bool AreTold(const api::ProviderStatus& status, const std::vector<std::string>& warnings);

}  // namespace capi::ops
