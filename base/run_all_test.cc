#include "base/run_all.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>

#include "base/testing/await.h"

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
  std::atomic<int> begun = 0;
  std::latch three(3), waited(3);
  std::atomic<bool> fourth = false;
  RunAll(3, std::vector<std::function<void()>>(4, [&] {
           if (++begun > 3) return;
           three.arrive_and_wait();
           if (Await([&] { return begun > 3; }, Millis(100))) fourth = true;
           waited.arrive_and_wait();
         }));
  EXPECT_EQ(begun, 4);
  EXPECT_FALSE(fourth) << "it began beside three others";
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
