// For tests that wait for what another thread does.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "base/clock.h"

namespace capi {

// Whether `done()` has come true within `limit`. It looks all the time, so `done` is cheap. Thread-safe.
[[nodiscard]] inline bool Await(const std::function<bool()>& done, Millis limit = Seconds(30)) {
  for (MonoTime end = SystemClock().Monotonic() + limit; !done(); std::this_thread::yield()) {
    if (SystemClock().Monotonic() > end) return false;
  }
  return true;
}

}  // namespace capi
