// What JSON takes in memory, for bounds on what others send.
#pragma once

#include "base/json.h"

namespace capi {

// Bytes of a value beside its text, about; a member of an object is two.
inline constexpr size_t kJsonValueSize = 80;

// Bytes that `value` takes, about, with all that is in it. Recurses as deep as it nests.
size_t MemoryOf(const Json& value);

}  // namespace capi
