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

// Thread-safe.
class UseFinder {
 public:
  UseFinder(kube::Client& client, Watches& watches) : client_(client), watches_(watches) {}

  // The objects of `crds` that belong to clusters. `key` is woken when one of them goes; while others stay, that takes
  // no request.
  Result<std::vector<std::string>> Find(const Context& ctx, const std::string& key,
                                        const std::vector<kube::ObjectPtr>& crds);
  // The provider is gone, or isn't deleted any more.
  void Forget(const std::string& key);

 private:
  Result<std::vector<std::string>> UsersIn(const Context& ctx, const std::string& key,
                                           const std::vector<kube::Resource>& kinds);
  Result<std::vector<kube::Resource>> KindsInUse(const Context& ctx, const std::vector<kube::ObjectPtr>& crds);

  kube::Client& client_;
  Watches& watches_;
  Mutex mu_;
  std::map<std::string, std::vector<kube::Resource>> in_use_ CAPI_GUARDED_BY(mu_);  // kinds, by key
};

}  // namespace capi::ops
