// For tests: a clock that needs no waiting.
#pragma once

#include "base/clock.h"

namespace capi::kube {

// Whoever waits until a time finds that it has come at once, so that a loop with delays runs through, and each delay
// can be read off. Waiting without an end is real. Thread-safe.
class JumpClock : public Clock {
 public:
  WallTime Now() override { return WallTime(Seconds(1'700'000'000)) + Elapsed(); }
  MonoTime Monotonic() override { return kStart + Elapsed(); }
  Millis Elapsed() const {
    MutexLock lock(mu_);
    return elapsed_;
  }
  void Advance(Millis by) {
    MutexLock lock(mu_);
    elapsed_ += by;
  }
  bool WaitUntil(std::condition_variable_any& cv, Mutex& mu, const std::stop_token& stop, MonoTime deadline,
                 const std::function<bool()>& ready) override {
    if (deadline == MonoTime::max()) return cv.wait(mu, stop, ready);
    if (!ready() && !stop.stop_requested()) {
      MutexLock lock(mu_);
      elapsed_ = std::max(elapsed_, std::chrono::ceil<Millis>(deadline - kStart));
    }
    return ready();
  }

 private:
  static constexpr MonoTime kStart{std::chrono::hours(1)};
  mutable Mutex mu_;
  Millis elapsed_ CAPI_GUARDED_BY(mu_){0};
};

}  // namespace capi::kube
