// Ctrl-C in a test.
#pragma once

#include <signal.h>
#include <unistd.h>

namespace capi::cli {

// Before all other threads of a test: of none of them Ctrl-C ends the program, as of none that a command begins. Who
// waits for it has it. Thread-compatible.
class WithoutInterrupts {
 public:
  WithoutInterrupts() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~WithoutInterrupts() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutInterrupts(const WithoutInterrupts&) = delete;
  WithoutInterrupts& operator=(const WithoutInterrupts&) = delete;

  // Ctrl-C, once somebody has taken it.
  static void Interrupt() {
    kill(getpid(), SIGINT);
    sigset_t pending;
    do sigpending(&pending);
    while (sigismember(&pending, SIGINT) == 1);
  }

 private:
  sigset_t before_ = {};
};

}  // namespace capi::cli
