#include "base/run_all.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>

namespace capi {
namespace {

TEST(RunAll, OneThreadTakesThemInOrder) {
  for (size_t threads : {0u, 1u}) {
    std::vector<int> order;
    std::vector<std::function<void()>> tasks;
    for (int i = 0; i < 50; ++i) tasks.emplace_back([&order, i] { order.push_back(i); });
    RunAll(threads, tasks);
    ASSERT_EQ(order.size(), 50u);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
  }
}

TEST(RunAll, RunsSideBySide) {
  std::latch all(4);
  RunAll(4, std::vector<std::function<void()>>(4, [&] { all.arrive_and_wait(); }));
}

TEST(RunAll, NoMoreThanItMay) {
  std::atomic<int> running = 0, most = 0;
  RunAll(3, std::vector<std::function<void()>>(200, [&] {
           int now = ++running;
           for (int before = most; before < now && !most.compare_exchange_weak(before, now);) {
           }
           --running;
         }));
  EXPECT_LE(most, 3);
}

TEST(RunAll, ReturnsWhenEachHasEnded) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> ended = 0;
    RunAll(3, std::vector<std::function<void()>>(20, [&] { ++ended; }));
    EXPECT_EQ(ended, 20);
  }
  RunAll(3, {});
}

TEST(RunAll, ThrowsWhatATaskThrew) {
  std::atomic<int> ended = 0;
  std::vector<std::function<void()>> tasks(10, [&] { ++ended; });
  tasks[3] = [] { throw std::runtime_error("a bug"); };
  EXPECT_THROW(RunAll(2, tasks), std::runtime_error);
  EXPECT_EQ(ended, 9) << "the others have ended before";
}

}  // namespace
}  // namespace capi
