// Our own writes to Providers that no watch shows. etcd may have been restored to what a watch had shown before such a
// write: the watch tells of no change then, and the cache keeps what isn't there any more (behaviour.md F3).
#pragma once

#include <map>
#include <string>

#include "kube/client/client.h"
#include "operator/observe/provider_cache.h"

namespace capi::ops {

// Reads the Provider and hands it to the cache, if a write of ours to it is awaited; else does nothing. What there is
// not any more is no error: the watch tells of it.
Status LookForRestore(const Context& ctx, kube::Client& client, ProviderCache& cache, const api::ProviderId& id);

// For one thread: Run, or Look by itself.
class UnseenWrites {
 public:
  // Both outlive it.
  UnseenWrites(kube::Client& client, ProviderCache& cache) : client_(client), cache_(cache) {}

  // Looks every kWatchLag by the context's clock, until the context stops.
  void Run(const Context& ctx);
  // Reads each Provider whose last write was awaited at the look before, too, and has not been shown since. That takes
  // no request where the watches work. While the server is away it ends with the first that can't be read.
  void Look(const Context& ctx);

 private:
  kube::Client& client_;
  ProviderCache& cache_;
  std::map<std::string, CachedPtr> awaited_;  // at the look before, by key
};

}  // namespace capi::ops
