// For tests of what waits.
#pragma once

#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace capi {

// Knows what was waited for: the times are what a test is about, and the beginning of the next wait tells it that what
// came before is done. Thread-safe.
class RecordingClock : public FakeClock {
 public:
  bool WaitUntil(std::condition_variable_any& cv, Mutex& mu, const std::stop_token& stop, MonoTime deadline,
                 const std::function<bool()>& ready) override {
    {
      MutexLock lock(mu_);
      waits_.push_back(std::chrono::duration_cast<Seconds>(deadline - Monotonic()));
    }
    return FakeClock::WaitUntil(cv, mu, stop, deadline, ready);
  }
  std::vector<Seconds> waits() {
    MutexLock lock(mu_);
    return waits_;
  }

 private:
  Mutex mu_;
  std::vector<Seconds> waits_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi
