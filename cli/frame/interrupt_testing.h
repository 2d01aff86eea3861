// Ctrl-C in a test.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <ctime>

namespace capi::cli {

// Before all other threads of a test: of none of them Ctrl-C ends the program, as of none that a command begins. Who
// waits for it has it. Thread-compatible.
class WithoutInterrupts {
 public:
  WithoutInterrupts() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~WithoutInterrupts() {
    const timespec now = {0, 0};
    sigtimedwait(&signals_, nullptr, &now);  // one that nobody has taken would end the program
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutInterrupts(const WithoutInterrupts&) = delete;
  WithoutInterrupts& operator=(const WithoutInterrupts&) = delete;

  // Ctrl-C, once somebody has taken it. False where nobody does in ten seconds.
  [[nodiscard]] static bool Interrupt() {
    kill(getpid(), SIGINT);
    for (int looks = 0; looks < 10'000; ++looks) {
      sigset_t pending;
      sigpending(&pending);
      if (sigismember(&pending, SIGINT) != 1) return true;
      usleep(1000);
    }
    return false;
  }

 private:
  sigset_t signals_ = {}, before_ = {};
};

}  // namespace capi::cli
