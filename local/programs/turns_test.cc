#include "local/programs/turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace capi::local {
namespace {

TEST(Turns, OneAtATimeHasANamesTurn_G9) {
  Turns turns;
  std::atomic<int> inside{0}, most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      auto turn = turns.Take({}, "a");
      ASSERT_TRUE(turn.ok());
      if (++inside > 1) ++most;
      --inside;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 0);
}

// G8: who waits for another's work ends with the plane.
TEST(Turns, WaitingEndsWithItsContext_G9) {
  Turns turns;
  auto first = turns.Take({}, "a");
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(turns.Take({}, "b").ok()) << "another name";
  EXPECT_EQ(turns.Take(Context{}.WithTimeout(Millis(20)), "a").code(), Code::kDeadlineExceeded);
  std::stop_source stop;
  std::atomic<Code> code{Code::kInternal};
  std::thread waits([&] { code = turns.Take(Context{}.WithStop(stop.get_token()), "a").code(); });
  stop.request_stop();
  waits.join();
  EXPECT_EQ(code.load(), Code::kCancelled);
  { auto gone = std::move(first); }
  EXPECT_TRUE(turns.Take({}, "a").ok());
}

}  // namespace
}  // namespace capi::local
