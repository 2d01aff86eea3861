#include "local/programs/turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/testing/await.h"

namespace capi::local {
namespace {

TEST(Turns, OneAtATimeHasANamesTurn_G9) {
  Turns turns;
  std::atomic<int> came{0}, inside{0}, most{0};
  std::vector<std::thread> threads;
  {
    auto first = turns.Take({}, "a");
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        ++came;
        auto turn = turns.Take({}, "a");
        ASSERT_TRUE(turn.ok());
        if (++inside > 1) ++most;
        std::this_thread::yield();
        --inside;
      });
    }
    ASSERT_TRUE(Await([&] { return came == 8; }));
    // Whoever asks while it is taken doesn't get it, however soon.
    EXPECT_EQ(turns.Take(Context{}.WithTimeout(Millis(20)), "a").code(), Code::kDeadlineExceeded);
    EXPECT_EQ(inside, 0);
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
