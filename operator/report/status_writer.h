// The only writes to Provider objects: status, finalizer, spec.version.
#pragma once

#include <string>

#include "api/types.h"
#include "kube/client/client.h"
#include "operator/observe/provider_cache.h"
#include "operator/report/secret_masks.h"

namespace capi::ops {

// Every write carries the object's uid, so that an object deleted and made anew under the same name never gets what was
// meant for the old one (kConflict then). Those of status and spec are for the version that `provider` was read at:
// what was decided on an older one, by a pass that didn't see an earlier write come through or an edit, is refused
// (kConflict) and decided anew. Where the server drops a field of what is written, the write fails
// (kFailedPrecondition). Where what is refused was written for a version that is our own last write, and no watch has
// shown it, the object is read once: the cluster may have been restored to a time before it (F3). `provider` follows
// what is written. Thread-safe.
class StatusWriter {
 public:
  StatusWriter(kube::Client& client, ProviderCache& cache, const SecretMasks& masks)
      : client_(client), cache_(cache), masks_(masks) {}

  // Without the values of the provider's Secrets, whoever put the messages together (behaviour.md I7).
  Status WriteStatus(const Context& ctx, api::Provider& provider, const api::ProviderStatus& decided);
  Status AddFinalizer(const Context& ctx, api::Provider& provider);
  Status RemoveFinalizer(const Context& ctx, api::Provider& provider);
  // behaviour.md I3: what was picked for an empty spec.version. kConflict when the user has written one meanwhile.
  Status WriteVersion(const Context& ctx, api::Provider& provider, const std::string& version);
  // behaviour.md A2: where recovered variables were put. kConflict when the user has changed the object meanwhile.
  Status WriteConfigSecret(const Context& ctx, api::Provider& provider, const api::ObjectRef& secret);
  Status RemoveAnnotation(const Context& ctx, api::Provider& provider, const std::string& key);

 private:
  Status Patch(const Context& ctx, api::Provider& provider, Json patch, const std::string& subresource);
  kube::Client& client_;
  ProviderCache& cache_;
  const SecretMasks& masks_;
};

}  // namespace capi::ops
