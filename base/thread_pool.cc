#include "base/thread_pool.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace capi {

struct ThreadPool::State {
  Mutex mu;
  std::condition_variable_any changed;
  std::deque<std::function<void()>> queue CAPI_GUARDED_BY(mu);
  bool closing CAPI_GUARDED_BY(mu) = false;
  size_t max_queued = 0;
  std::vector<std::thread> threads;

  void Work() CAPI_NO_THREAD_SAFETY_ANALYSIS {
    for (;;) {
      std::function<void()> task;
      {
        MutexLock lock(mu);
        changed.wait(mu, [this]() CAPI_NO_THREAD_SAFETY_ANALYSIS { return closing || !queue.empty(); });
        if (queue.empty()) return;
        task = std::move(queue.front());
        queue.pop_front();
      }
      changed.notify_all();
      task();
    }
  }
};

ThreadPool::ThreadPool(size_t threads, size_t max_queued) : state_(std::make_unique<State>()) {
  state_->max_queued = std::max<size_t>(max_queued, 1);
  for (size_t i = 0; i < std::max<size_t>(threads, 1); ++i) state_->threads.emplace_back([this] { state_->Work(); });
}

ThreadPool::~ThreadPool() {
  {
    MutexLock lock(state_->mu);
    state_->closing = true;
  }
  state_->changed.notify_all();
  for (auto& thread : state_->threads) thread.join();
}

void ThreadPool::Submit(std::function<void()> task) CAPI_NO_THREAD_SAFETY_ANALYSIS {
  {
    MutexLock lock(state_->mu);
    state_->changed.wait(state_->mu,
                         [this]() CAPI_NO_THREAD_SAFETY_ANALYSIS { return state_->queue.size() < state_->max_queued; });
    state_->queue.push_back(std::move(task));
  }
  state_->changed.notify_all();
}

void ThreadPool::RunAll(std::vector<std::function<void()>> tasks) {
  Mutex mu;
  std::condition_variable_any ended;
  size_t left = tasks.size();
  std::exception_ptr thrown;  // the first
  for (auto& task : tasks) {
    Submit([&, run = std::move(task)] {
      std::exception_ptr mine;
      try {
        run();
      } catch (...) {
        mine = std::current_exception();
      }
      MutexLock lock(mu);
      if (!thrown) thrown = mine;
      --left;
      ended.notify_all();  // under the lock: the waiter owns `ended` and goes away as soon as it sees zero
    });
  }
  MutexLock lock(mu);
  ended.wait(mu, [&] { return left == 0; });
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace capi
