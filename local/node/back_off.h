// When a container that ended is started again (behaviour.md G7). Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "base/error.h"

namespace capi::local {

// Half a second after the first end, then 1 s, doubling up to a minute, as a kubelet with
// ReduceDefaultCrashLoopBackOffDecay has it: a manager that came up before its kinds is waited for. From the start
// again where it ran for 10 minutes. Thread-compatible.
class BackOff {
 public:
  // How long to wait after an end of what ran for `ran`.
  Millis After(Millis ran);

 private:
  int ends_ = 0;
};

// A time that an object names. A year at most: what is far beyond it can't be counted in.
inline Seconds Bounded(std::int64_t seconds) {
  constexpr std::int64_t kYear = 365 * 24 * 3600;
  return Seconds(std::clamp<std::int64_t>(seconds, 0, kYear));
}

// Between tries of what may come to pass: half a second, then twice as long each time. Thread-compatible.
class RetryDelay {
 public:
  // How long to wait before the next try: `longest` at most, and five minutes.
  Millis Next(Millis longest);
  // After `error` of a program that isn't found: a minute at most; where the same try would end the same, for as long
  // as nobody changes something, a minute at least and five at most; and as long as the other side asks for, up to a
  // day.
  Millis NextFor(const Error& error);

 private:
  Millis next_{500};
};

}  // namespace capi::local
