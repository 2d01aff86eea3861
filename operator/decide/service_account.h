// In whose name a provider is installed (behaviour.md T8).
#pragma once

#include <string>

#include "api/types.h"

namespace capi::ops {

// As the API server calls its ServiceAccount; "" where the provider names none, and it is the operator.
inline std::string UserOf(const api::Provider& provider) {
  const std::string& account = provider.spec.service_account;
  return account.empty() ? "" : "system:serviceaccount:" + provider.id.ns + ":" + account;
}

}  // namespace capi::ops
