// Which of two objects for one provider counts (behaviour.md I5): the older one. Pure.
#pragma once

#include <tuple>

#include "api/types.h"

namespace capi::ops {

// Whether its installation has begun: what it is going to apply is in its inventory before the first write, and keeps
// any other provider from the same objects (I5).
inline bool HasBegun(const api::ProviderStatus& status) {
  return !status.installed_version.empty() || !status.inventory.empty() || !status.history.empty();
}

// Times have whole seconds, so that two may be equal: then what is installed, or is being installed, takes precedence
// over what isn't. Of two that are alike their uids decide, which are never equal.
inline bool GoesBefore(const api::Provider& a, const api::Provider& b) {
  const bool a_new = !HasBegun(a.status), b_new = !HasBegun(b.status);
  return std::tie(a.created, a_new, a.uid) < std::tie(b.created, b_new, b.uid);
}

}  // namespace capi::ops
