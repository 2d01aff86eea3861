#include "local/node/back_off.h"

#include <gtest/gtest.h>

namespace capi::local {
namespace {

// G7: the first restart comes at once, later ones as a kubelet has them.
TEST(BackOff, DoublesFromTenSecondsToFiveMinutes) {
  BackOff back_off;
  EXPECT_LE(back_off.After(Millis(0)), Seconds(1));
  for (int seconds : {10, 20, 40, 80, 160, 300, 300, 300, 300, 300, 300}) {
    EXPECT_EQ(back_off.After(Seconds(599)), Seconds(seconds));
  }
  EXPECT_LE(back_off.After(Seconds(600)), Seconds(1));
  EXPECT_EQ(back_off.After(Millis(0)), Seconds(10));
}

}  // namespace
}  // namespace capi::local
