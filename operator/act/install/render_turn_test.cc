#include "operator/act/install/render_turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace capi::ops {
namespace {

TEST(RenderTurns, OneAtATime) {
  RenderTurns turns;
  std::atomic<int> inside = 0, done = 0;
  std::atomic<bool> overlapped = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 200; ++n) {
        auto turn = turns.Take(Context{});
        if (!turn.ok()) return;
        if (inside.fetch_add(1) != 0) overlapped = true;
        std::this_thread::yield();
        inside.fetch_sub(1);
        ++done;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(done, 800);
  EXPECT_FALSE(overlapped);
}

// A worker that is to end didn't, as long as another one rendered.
TEST(RenderTurns, WaitingEndsWithTheContext) {
  FakeClock clock;
  RenderTurns turns;
  auto first = turns.Take(Context{});
  ASSERT_TRUE(first.ok());
  std::stop_source stop;
  Context ctx{.stop = stop.get_token()};
  ctx.clock = &clock;
  auto second = std::async(std::launch::async, [&] { return turns.Take(ctx); });
  clock.AwaitWaiters(1);
  stop.request_stop();
  auto ended = second.get();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.code(), Code::kCancelled);
  first->reset();
  EXPECT_TRUE(turns.Take(Context{}).ok()) << "and nothing of it is left";
}

}  // namespace
}  // namespace capi::ops
