// Flags that take a duration. Pure.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace capi::cli {

// A duration above 0, of 10,000 hours at most, as Go writes it ("90s", "1h30m"); a number alone is seconds.
// kInvalidArgument begins with the flag, which is as it was given.
Result<Millis> PositiveDuration(const std::string& flag, const std::string& text);

}  // namespace capi::cli
