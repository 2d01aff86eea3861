#include "base/clock.h"

#include <fmt/core.h>

#include <ctime>

namespace capi {
namespace {

class RealClock : public Clock {
 public:
  WallTime Now() override { return std::chrono::system_clock::now(); }
  MonoTime Monotonic() override { return std::chrono::steady_clock::now(); }
  bool WaitUntil(std::condition_variable_any& cv, Mutex& mu, const std::stop_token& stop, MonoTime deadline,
                 const std::function<bool()>& ready) override {
    return cv.wait_until(mu, stop, deadline, ready);
  }
};

std::tm UtcParts(WallTime time) {
  std::time_t seconds = std::chrono::system_clock::to_time_t(std::chrono::floor<Seconds>(time));
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return parts;
}

std::string FormatSeconds(const std::tm& t) {
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour,
                     t.tm_min, t.tm_sec);
}

}  // namespace

bool Clock::Sleep(const std::stop_token& stop, Millis duration) {
  Mutex mu;
  std::condition_variable_any cv;
  MutexLock lock(mu);
  WaitUntil(cv, mu, stop, Monotonic() + duration, [] { return false; });
  return !stop.stop_requested();
}

Clock& SystemClock() {
  static RealClock clock;
  return clock;
}

WallTime FakeClock::Now() {
  MutexLock lock(mu_);
  return now_;
}

MonoTime FakeClock::Monotonic() {
  MutexLock lock(mu_);
  return mono_;
}

// A waiter looks at the clock again every 2 ms of real time: a notification sent between its look and its sleep would
// be lost, and taking the waiter's mutex to close that gap would need it to outlive the notification.
bool FakeClock::WaitUntil(std::condition_variable_any& cv, Mutex& mu, const std::stop_token& stop, MonoTime deadline,
                          const std::function<bool()>& ready) {
  auto count = [this](int by) {
    MutexLock lock(mu_);
    waiters_ += static_cast<size_t>(by);
  };
  count(+1);
  changed_.notify_all();
  while (!stop.stop_requested() && !ready() && Monotonic() < deadline) {
    cv.wait_until(mu, stop, std::chrono::steady_clock::now() + Millis(2), ready);
  }
  count(-1);
  return ready();
}

void FakeClock::Advance(Millis by) {
  MutexLock lock(mu_);
  now_ += by;
  mono_ += by;
}

void FakeClock::AwaitWaiters(size_t count) CAPI_NO_THREAD_SAFETY_ANALYSIS {
  MutexLock lock(mu_);
  changed_.wait(mu_, [&] { return waiters_ >= count; });
}

std::string FormatTime(WallTime time) { return FormatSeconds(UtcParts(time)) + "Z"; }

std::string FormatMicroTime(WallTime time) {
  auto fraction = std::chrono::duration_cast<std::chrono::microseconds>(time - std::chrono::floor<Seconds>(time));
  return fmt::format("{}.{:06}Z", FormatSeconds(UtcParts(time)), fraction.count());
}

Result<WallTime> ParseTime(std::string_view text) {
  std::string copy(text);
  std::tm parts{};
  const char* rest = strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  Error bad{Code::kInvalidArgument, fmt::format("\"{}\" is not an RFC 3339 time", text), {}};
  if (rest == nullptr) return bad;
  WallTime time = std::chrono::system_clock::from_time_t(timegm(&parts));
  if (*rest == '.') {
    std::int64_t micros = 0;
    int digits = 0;
    for (++rest; *rest >= '0' && *rest <= '9'; ++rest, ++digits) {
      if (digits < 6) micros = micros * 10 + (*rest - '0');
    }
    if (digits == 0) return bad;
    for (; digits < 6; ++digits) micros *= 10;
    time += std::chrono::microseconds(micros);
  }
  if (std::string_view(rest) == "Z" || std::string_view(rest) == "z") return time;
  int hours = 0, minutes = 0;
  char sign = 0, end = 0;
  if (std::sscanf(rest, "%c%2d:%2d%c", &sign, &hours, &minutes, &end) != 3 || (sign != '+' && sign != '-')) return bad;
  auto offset = std::chrono::minutes(hours * 60 + minutes);
  return sign == '+' ? time - offset : time + offset;
}

}  // namespace capi
