// Which of two objects for one provider counts (behaviour.md I5): the older one. Pure.
#pragma once

#include <tuple>

#include "api/types.h"

namespace capi::ops {

// Times have whole seconds, so that two may be equal: then what is installed goes before what isn't, and of two that
// aren't, or are, their uids decide, which are never equal.
inline bool GoesBefore(const api::Provider& a, const api::Provider& b) {
  const bool a_new = a.status.installed_version.empty(), b_new = b.status.installed_version.empty();
  return std::tie(a.created, a_new, a.uid) < std::tie(b.created, b_new, b.uid);
}

}  // namespace capi::ops
