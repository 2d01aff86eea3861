// Time, passed in, so that tests never sleep.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <stop_token>
#include <string>

#include "base/mutex.h"
#include "base/result.h"

namespace capi {

using Millis = std::chrono::milliseconds;
using Seconds = std::chrono::seconds;
using WallTime = std::chrono::system_clock::time_point;
using MonoTime = std::chrono::steady_clock::time_point;

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime Now() = 0;        // for people: timestamps
  virtual MonoTime Monotonic() = 0;  // for durations and deadlines

  // Waits on `cv` until `ready()`, a stop request, or `deadline`. `mu` is held on entry, while `ready` runs and on
  // return. Returns ready().
  virtual bool WaitUntil(std::condition_variable_any& cv, Mutex& mu, const std::stop_token& stop, MonoTime deadline,
                         const std::function<bool()>& ready) = 0;

  // Returns false when stopped before the time was over.
  bool Sleep(const std::stop_token& stop, Millis duration);
};

Clock& SystemClock();

// A clock that moves only by Advance. Thread-safe.
class FakeClock : public Clock {
 public:
  explicit FakeClock(WallTime start = WallTime(std::chrono::seconds(1'700'000'000))) : now_(start) {}
  WallTime Now() override;
  MonoTime Monotonic() override;
  bool WaitUntil(std::condition_variable_any& cv, Mutex& mu, const std::stop_token& stop, MonoTime deadline,
                 const std::function<bool()>& ready) override;
  void Advance(Millis by);
  // Blocks until at least `count` threads wait on this clock; so a test knows that its subject is asleep.
  void AwaitWaiters(size_t count);

 private:
  Mutex mu_;
  std::condition_variable_any changed_;
  WallTime now_ CAPI_GUARDED_BY(mu_);
  MonoTime mono_ CAPI_GUARDED_BY(mu_) = MonoTime(std::chrono::hours(1));
  size_t waiters_ CAPI_GUARDED_BY(mu_) = 0;
};

// RFC 3339 in UTC with seconds, as Kubernetes' metav1.Time: "2026-01-02T15:04:05Z".
std::string FormatTime(WallTime time);
std::string FormatMicroTime(WallTime time);         // metav1.MicroTime: six digits of fraction
Result<WallTime> ParseTime(std::string_view text);  // with or without fraction and offset

}  // namespace capi
