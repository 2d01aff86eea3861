// How long the parts of a pass take.
#pragma once

#include <map>

#include "base/clock.h"

namespace capi::ops {

// The pass itself, and in it: a release that is read or fetched, rendered, applied.
enum class Phase { kReconcile, kFetch, kRender, kApply };

// One that took no part isn't there.
using PhaseTimes = std::map<Phase, MonoTime::duration>;

}  // namespace capi::ops
