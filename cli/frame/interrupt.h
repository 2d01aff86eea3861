// Ctrl-C while a command waits: it ends what it does in an orderly way, and says what goes on without it.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <stop_token>
#include <thread>

#include "base/context.h"

namespace capi::cli {

// What a signal does after the first one.
enum class NextSignal {
  kEnds,     // the process, at once, but for SIGHUP: a person is tired of waiting
  kNothing,  // for what is ended by programs, of which each sends its own, and SIGKILL where that takes too long
};

// While it lives, the first SIGINT, SIGTERM, SIGHUP or SIGQUIT asks for a stop; of further ones `next` tells.
// Make it before other threads, of which no one is to take the signal. One at a time. Thread-compatible.
class Interrupt {
 public:
  explicit Interrupt(NextSignal next = NextSignal::kEnds);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  void Wait();

  const NextSignal next_;
  std::stop_source source_;
  std::atomic<bool> over_ = false;
  sigset_t signals_ = {}, before_ = {};
  std::thread waiter_;
};

// What the second signal ends, too, with SIGKILL: a process group that this process has made, 0 for none. It has to be
// taken back before the group's leader is waited for. Thread-safe.
void EndsWithSecondInterrupt(pid_t group);

// fork(2), with the child's group to be ended so from its first moment on: it makes that itself (setsid), after it has
// seen to it that it ends with this process. Thread-safe.
pid_t ForkEndedWithSecondInterrupt();

// `done`; where it failed and `ctx` was stopped, that this is why, and how to go on.
Status OrInterrupted(const Context& ctx, Status done);

}  // namespace capi::cli
