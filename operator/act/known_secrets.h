// The values of a provider's Secrets as they are in the cluster (behaviour.md I7): for after a restart, when no apply
// has told them yet.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "kube/client/client.h"
#include "operator/observe/provider_cache.h"
#include "operator/observe/references.h"
#include "operator/observe/settings.h"
#include "operator/report/secret_masks.h"
#include "operator/report/secret_values.h"

namespace capi::ops {

// Those of the Secret that spec.configSecret names (in another namespace only with `foreign_references`, T1) and of the
// Secrets in the inventory, but for what the provider's own object says. One request for each; of more than a hundred
// none is read, and the result hides all. An error where one can't be read; what isn't there has no values.
Result<SecretValues> ReadSecretValues(const Context& ctx, kube::Client& client, const CachedProvider& cached,
                                      bool foreign_references);

// Has what others say of a provider told without its Secrets' values, by masks that read them where no apply has told
// them yet. Thread-safe.
class KnownSecrets {
 public:
  // `key` judges references into other namespaces (T1); null has no record count.
  KnownSecrets(kube::Client& client, const ProviderCache& cache, SecretMasks& masks, const Settings& settings,
               ReferenceKey key)
      : client_(client), cache_(cache), masks_(masks), settings_(settings), key_(std::move(key)) {}

  // From now on the masks know them, unless they can't be read: then nothing that others say is shown, and they are
  // asked for again after a second where that may pass by itself, else after 15.
  void Learn(const Context& ctx, const std::string& key);
  // The same, where something of what is to be told was written by others.
  void Learn(const Context& ctx, const std::string& key, const Observation& o, const Done& done);
  void Hide(const Context& ctx, const std::string& key, Fleet& fleet);
  void Forget(const std::string& key);

 private:
  Result<SecretValues> Read(const Context& ctx, const CachedProvider& cached);

  kube::Client& client_;
  const ProviderCache& cache_;
  SecretMasks& masks_;
  const Settings& settings_;
  const ReferenceKey key_;
  Mutex mu_;
  std::map<std::string, MonoTime> not_before_ CAPI_GUARDED_BY(mu_);  // of those that couldn't be read, by key
};

// What the provider's own object says, and what its inventory names, is no secret to those who read its conditions.
// `cached` may be null.
SecretValues WithoutKnown(SecretValues secrets, const std::vector<kube::ObjectId>& ids, const CachedProvider* cached);

}  // namespace capi::ops
