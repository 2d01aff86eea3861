// For tests: another process that has a plane's lock.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "local/plane/plane_lock.h"

namespace capi::cli {

// Thread-compatible.
class LockHolder {
 public:
  LockHolder() = default;
  ~LockHolder() { End(SIGKILL); }
  LockHolder(const LockHolder&) = delete;
  LockHolder& operator=(const LockHolder&) = delete;

  // Returns once the process has the lock; it keeps it until it is ended.
  void Hold(const std::string& lock, local::PlaneLock::Who who) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t test = getpid();
    pid_ = fork();
    if (pid_ == 0) {
      auto taken = local::PlaneLock::TryTake(lock, who);
      const pid_t own = getpid(), child = taken.ok() && *taken ? fork() : -1;
      if (child == 0) LiveWith(own);
      [[maybe_unused]] const ssize_t n = write(ready[1], &child, sizeof child);
      LiveWith(test);
    }
    close(ready[1]);  // one that ends without a word isn't waited for
    ASSERT_EQ(read(ready[0], &child_, sizeof child_), static_cast<ssize_t>(sizeof child_));
    ASSERT_GT(child_, 0);
    close(ready[0]);
  }
  // A process that it has started, without the lock; it ends with it.
  pid_t child() const { return child_; }
  // With this signal; waits for its end. Nothing where there is none.
  void End(int number) {
    if (pid_ <= 0) return;
    kill(pid_, number);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  // Waits for its end by another's signal; the status of waitpid, -1 where there is none.
  int AwaitEnd() {
    int status = -1;
    if (waitpid(std::exchange(pid_, 0), &status, 0) <= 0) return -1;
    return status;
  }

 private:
  // Of a child: to the end of `parent`, whatever ends that. (PR_SET_PDEATHSIG would go by the thread that has started
  // it.)
  [[noreturn]] static void LiveWith(pid_t parent) {
    while (getppid() == parent) sleep(1);
    _exit(0);
  }

  pid_t pid_ = 0, child_ = 0;
};

}  // namespace capi::cli
