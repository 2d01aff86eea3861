// The random key of this installation (docs/formats.md). With it inventories hash what Secrets hold: who may read a
// Provider's status can't try values until one has that hash. And with it records of references into other namespaces
// are made: who may write a Provider can't write one (api/reference_record.h).
#pragma once

#include <string>
#include <vector>

#include "base/mutex.h"
#include "kube/apply/manifest.h"
#include "kube/client/client.h"
#include "operator/report/secret_values.h"

namespace capi::ops {

// Thread-safe.
class InventoryKey {
 public:
  InventoryKey(kube::Client& client, std::string ns) : client_(client), ns_(std::move(ns)) {}

  // Gives each manifest that IsSecret is true for a hash with the key. Without any, the key isn't asked for.
  Status HashSecrets(const Context& ctx, std::vector<kube::Manifest>& manifests, const SecretValues& values);

  // Read once from its Secret, which is made where there is none yet, also by a replica that doesn't lead.
  Result<std::string> Get(const Context& ctx);

 private:
  Result<std::string> Read(const Context& ctx);

  kube::Client& client_;
  const std::string ns_;
  Mutex mu_;
  std::string key_ CAPI_GUARDED_BY(mu_);  // "" until it was read
};

// Whether the hash of a manifest would tell of one of the values.
bool IsSecret(const kube::Manifest& manifest, const SecretValues& values);

}  // namespace capi::ops
