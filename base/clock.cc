#include "base/clock.h"

#include <fmt/core.h>

#include <cstdlib>
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

// A test whose subject doesn't fall asleep ends, and all of its program.
void FakeClock::AwaitWaiters(size_t count) {
  MutexLock lock(mu_);
  auto enough = [&] {
    mu_.AssertHeld();
    return waiters_ >= count;
  };
  if (changed_.wait_for(mu_, Seconds(30), enough)) return;
  fmt::print(stderr, "{} threads wait on the clock, and not {}\n", waiters_, count);
  std::abort();
}

std::string FormatTime(WallTime time) { return FormatSeconds(UtcParts(time)) + "Z"; }

std::string FormatMicroTime(WallTime time) {
  auto fraction = std::chrono::duration_cast<std::chrono::microseconds>(time - std::chrono::floor<Seconds>(time));
  return fmt::format("{}.{:06}Z", FormatSeconds(UtcParts(time)), fraction.count());
}

Result<WallTime> ParseTime(std::string_view text) {
  const Error bad{Code::kInvalidArgument, fmt::format("\"{}\" is not an RFC 3339 time", text), {}};
  size_t at = 0;
  auto number = [&](size_t digits) {
    int value = 0;
    for (size_t end = at + digits; at < end; ++at) {
      if (at >= text.size() || text[at] < '0' || text[at] > '9') return -1;
      value = value * 10 + (text[at] - '0');
    }
    return value;
  };
  auto take = [&](std::string_view chars) { return at < text.size() && chars.find(text[at++]) != chars.npos; };

  int year = number(4), month = take("-") ? number(2) : -1, day = take("-") ? number(2) : -1;
  int hour = take("Tt") ? number(2) : -1, minute = take(":") ? number(2) : -1, second = take(":") ? number(2) : -1;
  std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                   std::chrono::day(static_cast<unsigned>(day)));
  bool in_range = year >= 0 && date.ok() && hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0;
  if (!in_range || second > 60) return bad;
  WallTime time = std::chrono::sys_days(date);
  time += std::chrono::hours(hour) + std::chrono::minutes(minute) + Seconds(second);
  if (at < text.size() && text[at] == '.') {
    size_t start = ++at;
    for (std::int64_t unit = 100'000; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10)
      time += std::chrono::microseconds(unit * (text[at] - '0'));
    if (at == start) return bad;
  }
  char zone = at < text.size() ? text[at++] : '?';
  if (zone == '+' || zone == '-') {
    int hours = number(2), minutes = take(":") ? number(2) : -1;
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return bad;
    auto offset = std::chrono::minutes(hours * 60 + minutes);
    time += zone == '+' ? -offset : offset;
  } else if (zone != 'Z' && zone != 'z') {
    return bad;
  }
  return at == text.size() ? Result<WallTime>(time) : bad;
}

}  // namespace capi
