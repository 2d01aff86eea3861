// Threads of the node that end together.
#pragma once

#include <functional>
#include <list>
#include <optional>
#include <string>
#include <thread>

#include "base/caught.h"
#include "base/context.h"
#include "base/mutex.h"

namespace capi::local {

// They end with their scope, with a stop of `ctx`, and where one of them throws: what lacks a part says so by its end.
// Thread-compatible.
class Workers {
 public:
  explicit Workers(const Context& ctx)
      : ctx_(ctx.WithStop(stop_.get_token())), forward_(ctx.stop, [this] { stop_.request_stop(); }) {}
  ~Workers() {
    stop_.request_stop();
    for (std::thread& one : threads_) one.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // What each of them, and their owner, are to end by.
  const Context& ctx() const { return ctx_; }
  // Throws where the system has no thread for it.
  void Add(std::function<void()> work) {
    threads_.emplace_back([this, work = std::move(work)] {
      auto thrown = Caught(work);
      if (!thrown) return;
      {
        MutexLock lock(mu_);
        failed_ = *thrown;
      }
      stop_.request_stop();
    });
  }
  // What one of them threw.
  std::optional<std::string> Failed() const {
    MutexLock lock(mu_);
    return failed_;
  }

 private:
  std::stop_source stop_;
  const Context ctx_;
  std::stop_callback<std::function<void()>> forward_;
  mutable Mutex mu_;
  std::optional<std::string> failed_ CAPI_GUARDED_BY(mu_);
  std::list<std::thread> threads_;
};

}  // namespace capi::local
