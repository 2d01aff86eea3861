// The real clock, for a test whose subject has to sleep for real: a FakeClock's waiters look around every 2 ms, also
// when nobody wakes them.
#pragma once

#include "base/clock.h"

namespace capi {

// Knows who waits by it. Thread-safe.
class WaitingClock : public Clock {
 public:
  WallTime Now() override { return SystemClock().Now(); }
  MonoTime Monotonic() override { return SystemClock().Monotonic(); }
  bool WaitUntil(std::condition_variable_any& cv, Mutex& mu, const std::stop_token& stop, MonoTime deadline,
                 const std::function<bool()>& ready) override {
    Count(1, 1);  // with `mu` held: who takes it next finds this one asleep
    bool done = SystemClock().WaitUntil(cv, mu, stop, deadline, ready);
    Count(0, -1);
    return done;
  }

  // False when it isn't so within 30 s: that `count` threads wait now, or have begun to wait since the clock was made.
  [[nodiscard]] bool AwaitWaiters(int count) { return Reaches(&WaitingClock::waiting_, count); }
  [[nodiscard]] bool AwaitBegun(int count) { return Reaches(&WaitingClock::begun_, count); }

 private:
  void Count(int begun, int waiting) {
    MutexLock lock(mu_);
    begun_ += begun;
    waiting_ += waiting;
    changed_.notify_all();
  }
  bool Reaches(const int WaitingClock::*number, int count) {
    MutexLock lock(mu_);
    return changed_.wait_for(mu_, Seconds(30), [&] { return this->*number >= count; });
  }

  Mutex mu_;
  std::condition_variable_any changed_;
  int begun_ CAPI_GUARDED_BY(mu_) = 0, waiting_ CAPI_GUARDED_BY(mu_) = 0;
};

}  // namespace capi
