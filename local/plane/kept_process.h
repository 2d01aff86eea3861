// A process that is to run: when it ends, it is started again (behaviour.md G3).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/processes/process.h"
#include "local/plane/state.h"

namespace capi::local {

// A value.
struct KeptProcessOptions {
  std::string name;
  ProcessOptions command;
  int port = 0;                    // for people; 0 for none
  std::function<bool()> is_ready;  // asked while it runs; without it one that runs is, but for 2 s after an end
  int stop_signal = SIGTERM;       // by which it is ended, and by SIGKILL after `grace`
  Millis grace{500};
};

// Started again at once, then after 200 ms, twice as long each time, 5 s at most; one that ran for 10 s begins anew
// with that. Thread-compatible.
class KeptProcess {
 public:
  KeptProcess(KeptProcessOptions options, Clock& clock);

  // Starts it where it doesn't run and the time has come, and asks whether it is ready. To be called again and again.
  void Look();
  // Ends it; Look must not be called any more.
  void Stop();

  const ProcessState& state() const { return state_; }

 private:
  void Start();
  void Ended(int code);
  void LookWhetherReady();

  const KeptProcessOptions options_;
  Clock& clock_;
  std::unique_ptr<Process> process_;
  ProcessState state_;
  Millis pause_{0};
  MonoTime started_{}, next_{}, asked_{};
};

}  // namespace capi::local
