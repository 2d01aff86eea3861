// The values of a provider's Secrets as they are in the cluster (behaviour.md I7): for after a restart, when no render
// has told them yet.
#pragma once

#include "base/context.h"
#include "kube/client/client.h"
#include "operator/observe/provider_cache.h"
#include "operator/report/secret_values.h"

namespace capi::ops {

// Those of the Secret that spec.configSecret names (in another namespace only with `foreign_references`, T1) and of the
// Secrets in the inventory, but for what the provider's own object says. One request for each; of more than a hundred
// none is read, and the result hides all. An error where one can't be read; what isn't there has no values.
Result<SecretValues> ReadSecretValues(const Context& ctx, kube::Client& client, const CachedProvider& cached,
                                      bool foreign_references);

// What the provider's own object says, and what its inventory names, is no secret to those who read its conditions.
// `cached` may be null.
SecretValues WithoutKnown(SecretValues secrets, const std::vector<kube::ObjectId>& ids, const CachedProvider* cached);

}  // namespace capi::ops
