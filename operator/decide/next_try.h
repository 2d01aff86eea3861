// When a hold is tried again, as a condition tells it (behaviour.md F1, F5). Pure.
#pragma once

#include <algorithm>
#include <string_view>

namespace capi::ops {

// How a condition's message goes on behind that of its hold, before the details: with a time and ")", or all of it.
inline constexpr std::string_view kNextTryAt = " (next try at ";
inline constexpr std::string_view kLookedAtAgain = " (looked at again when an input changes, and now and then)";
// The hold's message alone, of a condition's.
inline std::string_view WithoutNextTry(std::string_view told) {
  return told.substr(0, std::min(told.find(kNextTryAt), told.find(kLookedAtAgain)));
}

}  // namespace capi::ops
