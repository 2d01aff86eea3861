#include "base/http/server/handler_threads.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace capi::http {

HandlerThreads::HandlerThreads(size_t most) : most_(std::max<size_t>(most, 1)) {
  MutexLock lock(mu_);
  Start();
}

HandlerThreads::~HandlerThreads() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(mu_);
    closing_ = true;
    threads.swap(threads_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void HandlerThreads::Run(std::function<void()> task) {
  MutexLock lock(mu_);
  queue_.push_back(std::move(task));
  if (queue_.size() > idle_ && threads_.size() < most_) {
    try {
      Start();
    } catch (const std::system_error&) {  // no more threads now: those that there are do it, one task after the other
    }
  }
  changed_.notify_one();
}

void HandlerThreads::Start() {
  threads_.emplace_back([this] { Work(); });
}

void HandlerThreads::Work() {
  while (true) {
    std::function<void()> task;
    {
      MutexLock lock(mu_);
      ++idle_;
      while (!closing_ && queue_.empty()) changed_.wait(mu_);
      --idle_;
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    task();
  }
}

}  // namespace capi::http
