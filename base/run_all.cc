#include "base/run_all.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>

#include "base/mutex.h"

namespace capi {

void RunAll(size_t threads, const std::vector<std::function<void()>>& tasks) {
  std::atomic<size_t> next = 0;
  Mutex mu;
  std::exception_ptr thrown;  // the first
  auto work = [&] {
    for (size_t i = 0; (i = next++) < tasks.size();) {
      try {
        tasks[i]();
      } catch (...) {
        MutexLock lock(mu);
        if (!thrown) thrown = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (size_t i = 1; i < std::min(threads, tasks.size()); ++i) others.emplace_back(work);
    } catch (const std::system_error&) {  // no more threads now: those that there are do it
    }
    work();
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace capi
