#include "local/node/back_off.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace capi::local
