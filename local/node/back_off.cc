#include "local/node/back_off.h"

#include <algorithm>

namespace capi::local {

constexpr Millis kFirst{500};
constexpr Seconds kAgain{1}, kLongest{60}, kForgottenAfter{600};
// Between tries of what isn't an end.
constexpr Seconds kLongestRetry{300}, kLongestForPrograms{60}, kLongestAsked{24 * 3600};

Millis BackOff::After(Millis ran) {
  if (ran >= kForgottenAfter) ends_ = 0;
  if (++ends_ == 1) return kFirst;
  return std::min<Millis>(kLongest, kAgain * (1 << std::min(ends_ - 2, 6)));
}

Millis RetryDelay::Next(Millis longest) {
  Millis wait = std::min(next_, longest);
  next_ = std::min<Millis>(next_ * 2, kLongestRetry);  // bounded: it doubles for as long as a Secret isn't there
  return wait;
}

Millis RetryDelay::NextFor(const Error& error) {
  const bool same = error.code == Code::kInvalidArgument || error.code == Code::kUnsupported ||
                    error.code == Code::kFailedPrecondition;
  const Millis own = same ? std::max<Millis>(Next(kLongestRetry), kLongestForPrograms) : Next(kLongestForPrograms);
  const Millis asked = error.retry_after.value_or(Millis(0));
  return std::max<Millis>(own, std::min<Millis>(asked, kLongestAsked));
}

}  // namespace capi::local
