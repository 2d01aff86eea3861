#include "local/node/back_off.h"

#include <gtest/gtest.h>

#include <limits>

namespace capi::local {
namespace {

// G7: the first restart comes at once, later ones as a kubelet has them.
TEST(BackOff, DoublesFromOneSecondToAMinute) {
  BackOff back_off;
  EXPECT_LE(back_off.After(Millis(0)), Seconds(1));
  for (int seconds : {1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60}) {
    EXPECT_EQ(back_off.After(Seconds(599)), Seconds(seconds));
  }
  EXPECT_LE(back_off.After(Seconds(600)), Seconds(1));
  EXPECT_EQ(back_off.After(Millis(0)), Seconds(1));
}

// G5: what isn't there is asked for again and again, and never without a pause, however long it takes.
TEST(RetryDelay, StaysAtItsLongest) {
  RetryDelay delay;
  EXPECT_EQ(delay.Next(Seconds(2)), Millis(500));
  EXPECT_EQ(delay.Next(Seconds(2)), Millis(1000));
  for (int i = 0; i < 100; ++i) ASSERT_EQ(delay.Next(Seconds(2)), Seconds(2)) << i;
  EXPECT_EQ(delay.Next(Seconds(60)), Seconds(60)) << "where the longest is another one by then";
}

// G9: a registry that asks for an hour gets it, and what would end the same is left alone for minutes.
TEST(RetryDelay, IsWhatTheErrorOfAProgramAsksFor_G9) {
  RetryDelay away, same, asked;
  EXPECT_EQ(away.NextFor({Code::kUnavailable, "", {}}), Millis(500));
  for (int i = 0; i < 20; ++i) (void)away.NextFor({Code::kNotFound, "", {}});
  EXPECT_EQ(away.NextFor({Code::kNotFound, "", {}}), Seconds(60));
  for (Code code : {Code::kInvalidArgument, Code::kUnsupported, Code::kFailedPrecondition})
    EXPECT_EQ(same.NextFor({code, "", {}}), Seconds(60));
  for (int i = 0; i < 20; ++i) (void)same.NextFor({Code::kUnsupported, "", {}});
  EXPECT_EQ(same.NextFor({Code::kUnsupported, "", {}}), Seconds(300));
  EXPECT_EQ(asked.NextFor({Code::kRateLimited, "", Seconds(3600)}), Seconds(3600));
  EXPECT_EQ(asked.NextFor({Code::kRateLimited, "", Seconds(1'000'000)}), Seconds(24 * 3600));
  EXPECT_EQ(asked.NextFor({Code::kRateLimited, "", Millis(1)}), Seconds(2)) << "its own is longer";
}

// G5: the longest time that the API server takes is a long time, and not one of the past.
TEST(Bounded, IsWhatCanBeCountedWith_G5) {
  EXPECT_EQ(Bounded(30), Seconds(30));
  EXPECT_EQ(Bounded(std::numeric_limits<std::int64_t>::max()), Seconds(365 * 24 * 3600));
  EXPECT_EQ(Bounded(-1), Seconds(0));
}

}  // namespace
}  // namespace capi::local
