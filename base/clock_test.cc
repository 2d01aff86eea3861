#include "base/clock.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "base/context.h"

namespace capi {
namespace {

TEST(Time, IsWrittenAsKubernetesWritesIt) {
  WallTime time = std::chrono::sys_days(std::chrono::year(2026) / 1 / 2) + std::chrono::hours(15) +
                  std::chrono::minutes(4) + Seconds(5) + std::chrono::microseconds(42);
  EXPECT_EQ(FormatTime(time), "2026-01-02T15:04:05Z");
  EXPECT_EQ(FormatMicroTime(time), "2026-01-02T15:04:05.000042Z");
  EXPECT_EQ(*ParseTime(FormatMicroTime(time)), time);
}

TEST(Time, IsReadWithFractionAndOffset) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"2026-01-02T15:04:05Z", "2026-01-02T15:04:05.000000Z"},
      {"2026-01-02t15:04:05.1z", "2026-01-02T15:04:05.100000Z"},
      {"2026-01-02T15:04:05.123456789Z", "2026-01-02T15:04:05.123456Z"},
      {"2026-01-02T00:30:00+01:00", "2026-01-01T23:30:00.000000Z"},
      {"2026-01-02T00:30:00.5-05:30", "2026-01-02T06:00:00.500000Z"},
      {"2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z"},
      {"1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.500000Z"},
  };
  for (auto [text, want] : cases) {
    auto time = ParseTime(text);
    ASSERT_TRUE(time.ok()) << text;
    EXPECT_EQ(FormatMicroTime(*time), want);
  }
}

TEST(Time, ThatIsNoneIsRefused) {
  for (std::string_view bad :
       {"", "2026-01-02", "2026-01-02T15:04:05", "2026-1-2T15:04:05Z", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-01-02T24:00:00Z", "2026-01-02T00:60:00Z", "2026-01-02T00:00:61Z", "2026-01-02 15:04:05Z",
        "2026-01-02T15:04:05.Z", "2026-01-02T15:04:05Zx", "2026-01-02T15:04:05+1:00", "2026-01-02T15:04:05+01:60",
        " 2026-01-02T15:04:05Z", "+026-01-02T15:04:05Z"})
    EXPECT_EQ(ParseTime(bad).code(), Code::kInvalidArgument) << bad;
}

TEST(FakeClock, MovesOnlyByAdvance) {
  FakeClock clock;
  WallTime now = clock.Now();
  MonoTime mono = clock.Monotonic();
  clock.Advance(Millis(1500));
  EXPECT_EQ(clock.Now() - now, Millis(1500));
  EXPECT_EQ(clock.Monotonic() - mono, Millis(1500));
}

TEST(FakeClock, SleepersWakeByTimeOrStop) {
  for (bool stop : {false, true}) {
    FakeClock clock;
    std::stop_source source;
    auto slept = std::async(std::launch::async, [&] { return clock.Sleep(source.get_token(), Seconds(60)); });
    clock.AwaitWaiters(1);
    clock.Advance(Seconds(59));
    EXPECT_EQ(slept.wait_for(Millis(20)), std::future_status::timeout);
    if (stop) {
      source.request_stop();
    } else {
      clock.Advance(Seconds(1));
    }
    EXPECT_EQ(slept.get(), !stop);
  }
}

TEST(SystemClock, WaitsForWhatIsReadyStoppedOrLate) {
  Clock& clock = SystemClock();
  Mutex mu;
  std::condition_variable_any cv;
  std::stop_source source;
  auto wait = [&](Millis most, bool ready) {
    MutexLock lock(mu);
    return clock.WaitUntil(cv, mu, source.get_token(), clock.Monotonic() + most, [&] { return ready; });
  };
  EXPECT_TRUE(wait(Seconds(60), true));
  EXPECT_FALSE(wait(Millis(5), false));
  source.request_stop();
  EXPECT_FALSE(wait(Seconds(60), false));
  EXPECT_FALSE(clock.Sleep(source.get_token(), Seconds(60)));
  EXPECT_TRUE(clock.Sleep({}, Millis(1)));
}

TEST(Context, EndsByStopOrDeadline) {
  FakeClock clock;
  Context ctx;
  ctx.clock = &clock;
  EXPECT_TRUE(ctx.Check().ok());
  Context child = ctx.WithTimeout(Seconds(10)).WithTimeout(Seconds(20));  // never later than its parent
  clock.Advance(Millis(9'999));
  EXPECT_TRUE(child.Check().ok());
  clock.Advance(Millis(1));
  EXPECT_EQ(child.Check().code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(ctx.Check().ok());
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(child.WithStop(source.get_token()).Check().code(), Code::kCancelled);
}

}  // namespace
}  // namespace capi
