#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <stdexcept>

namespace capi {
namespace {

TEST(ThreadPool, RunsInOrderOfSubmission) {
  std::vector<int> order;
  {
    ThreadPool pool(1, 100);
    for (int i = 0; i < 50; ++i) pool.Submit([&order, i] { order.push_back(i); });
  }  // runs what was submitted
  ASSERT_EQ(order.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(ThreadPool, RunsSideBySide) {
  ThreadPool pool(4, 4);
  std::latch all(4);
  for (int i = 0; i < 4; ++i) pool.Submit([&] { all.arrive_and_wait(); });
  all.wait();
}

TEST(ThreadPool, SubmitWaitsWhileTheQueueIsFull) {
  std::promise<void> leave;
  std::atomic<int> ran = 0;
  std::latch busy(1);
  ThreadPool pool(1, 1);
  pool.Submit([&] {
    busy.count_down();
    leave.get_future().wait();
  });
  busy.wait();
  pool.Submit([&] { ++ran; });
  auto third = std::async(std::launch::async, [&] { pool.Submit([&] { ++ran; }); });
  EXPECT_EQ(third.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  leave.set_value();
  third.get();
  pool.RunAll({[] {}});
  EXPECT_EQ(ran, 2);
}

TEST(ThreadPool, RunAllReturnsWhenEachHasEnded) {
  ThreadPool pool(3, 2);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> ended = 0;
    std::vector<std::function<void()>> tasks(20, [&] { ++ended; });
    pool.RunAll(std::move(tasks));
    EXPECT_EQ(ended, 20);
  }
  pool.RunAll({});
}

TEST(ThreadPool, RunAllThrowsWhatATaskThrew) {
  ThreadPool pool(2, 2);
  std::atomic<int> ended = 0;
  std::vector<std::function<void()>> tasks(10, [&] { ++ended; });
  tasks[3] = [] { throw std::runtime_error("a bug"); };
  EXPECT_THROW(pool.RunAll(std::move(tasks)), std::runtime_error);
  EXPECT_EQ(ended, 9) << "the others have ended before";
}

}  // namespace
}  // namespace capi
