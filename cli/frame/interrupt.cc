#include "cli/frame/interrupt.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <ctime>

#include "base/mutex.h"

namespace capi::cli {
namespace {

// How long an end of the object may take.
constexpr timespec kLook = {0, 50'000'000};
constexpr int kKilled = 130;  // as shells say that SIGINT ended a program

Mutex g_mu;
pid_t g_group CAPI_GUARDED_BY(g_mu) = 0;

bool IsIgnored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

Interrupt::Interrupt(NextSignal next) : next_(next) {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  // A closed terminal, and Ctrl-\. What nohup ignores isn't looked at: a blocked signal would come all the same.
  for (int signal : {SIGHUP, SIGQUIT}) {
    if (!IsIgnored(signal)) sigaddset(&signals_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  waiter_ = std::thread([this] { Wait(); });
}

Interrupt::~Interrupt() {
  over_ = true;
  waiter_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interrupt::Wait() {
  while (!over_) {
    const int signal = sigtimedwait(&signals_, nullptr, &kLook);
    if (signal < 0) continue;
    // A terminal that is closed sends it, and its shell once more: nobody is in a hurry there.
    if (source_.stop_requested() && signal == SIGHUP) continue;
    if (source_.stop_requested() && next_ == NextSignal::kEnds) {
      MutexLock lock(g_mu);  // nobody forks any more
      if (g_group > 0) kill(-g_group, SIGKILL);
      _exit(kKilled);
    }
    source_.request_stop();
  }
}

void EndsWithSecondInterrupt(pid_t group) {
  MutexLock lock(g_mu);
  g_group = group;
}

pid_t ForkEndedWithSecondInterrupt() {
  MutexLock lock(g_mu);
  const pid_t child = fork();
  if (child > 0) g_group = child;
  return child;
}

Status OrInterrupted(const Context& ctx, Status done) {
  if (done.ok() || !ctx.stop.stop_requested()) return done;
  const std::string why = done.code() == Code::kCancelled ? "" : fmt::format(" ({})", done.error().message);
  return Error{Code::kCancelled,
               fmt::format("interrupted{}; what was written stays; to go on, run the same command again", why),
               {}};
}

}  // namespace capi::cli
