// Which objects of workload clusters need a provider, by watches (behaviour.md X2).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "kube/client/client.h"
#include "kube/meta/object.h"
#include "lifecycle/in_use.h"
#include "operator/observe/watches.h"

namespace capi::ops {

using lifecycle::ListReadable;
using lifecycle::NameOf;
using lifecycle::ReadObjects;

// Thread-safe. What it costs doesn't depend on how many there are: the first few are looked for, and each is watched by
// its name.
class UseFinder {
 public:
  UseFinder(kube::Client& client, Watches& watches) : client_(client), watches_(watches) {}

  // The first objects of `crds` that belong to clusters, in words: kUsersNamed and one more at most. `key` is woken
  // when one of them goes; while all of them stay, that takes no request. kUnavailable where they go faster than they
  // can be looked for.
  Result<std::vector<std::string>> Find(const Context& ctx, const std::string& key,
                                        const std::vector<kube::ObjectPtr>& crds);
  // The provider is gone.
  void Forget(const std::string& key);

 private:
  using Users = std::vector<lifecycle::ClusterUser>;
  Result<Users> StillThere(const Context& ctx, const std::string& key, const Users& users);
  Users Known(const std::string& key);
  void Know(const std::string& key, Users users);

  kube::Client& client_;
  Watches& watches_;
  Mutex mu_;
  std::map<std::string, Users> known_ CAPI_GUARDED_BY(mu_);  // by key
};

}  // namespace capi::ops
