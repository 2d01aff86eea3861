// Threads for requests, started as they are needed.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace capi::http {

// Thread-safe. The destructor runs what is queued, then joins.
class HandlerThreads {
 public:
  // At most `most`; one starts at once, so that there is always one.
  explicit HandlerThreads(size_t most);
  ~HandlerThreads();
  HandlerThreads(const HandlerThreads&) = delete;
  HandlerThreads& operator=(const HandlerThreads&) = delete;

  // Queues, never blocks. `task` doesn't throw.
  void Run(std::function<void()> task);

 private:
  void Work();
  void Start() CAPI_REQUIRES(mu_);

  const size_t most_;
  Mutex mu_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> queue_ CAPI_GUARDED_BY(mu_);
  size_t idle_ CAPI_GUARDED_BY(mu_) = 0;
  bool closing_ CAPI_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::http
