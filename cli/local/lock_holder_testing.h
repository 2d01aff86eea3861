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
    pid_ = fork();
    if (pid_ == 0) {
      auto taken = local::PlaneLock::TryTake(lock, who);
      char byte = taken.ok() && *taken ? 'y' : 'n';
      [[maybe_unused]] ssize_t n = write(ready[1], &byte, 1);
      for (;;) pause();
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    ASSERT_EQ(byte, 'y');
    close(ready[0]);
    close(ready[1]);
  }
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
  pid_t pid_ = 0;
};

}  // namespace capi::cli
