// Which of two objects for one provider counts (behaviour.md I5): the older one. Pure.
#pragma once

#include <tuple>

#include "api/types.h"

namespace capi::ops {

// Times have whole seconds, so that two may be equal; their uids never are.
inline bool GoesBefore(const api::Provider& a, const api::Provider& b) {
  return std::tie(a.created, a.uid) < std::tie(b.created, b.uid);
}

}  // namespace capi::ops
