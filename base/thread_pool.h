// A fixed number of threads that run tasks in order of submission.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"

namespace capi {

// Thread-safe. The destructor runs what was submitted, then joins.
class ThreadPool {
 public:
  ThreadPool(size_t threads, size_t max_queued);
  ~ThreadPool();
  // Blocks while the queue is full. What `task` throws ends the process.
  void Submit(std::function<void()> task);
  // Runs all `tasks` on at most this pool's threads and returns when each has ended; what one of them throws is thrown
  // here then. Not from one of its own tasks: that would wait for itself.
  void RunAll(std::vector<std::function<void()>> tasks);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace capi
