// When a container that ended is started again (behaviour.md G7). Pure.
#pragma once

#include "base/clock.h"

namespace capi::local {

// Half a second after the first end, then 1 s, doubling up to a minute, as a kubelet with
// ReduceDefaultCrashLoopBackOffDecay has it: a manager that came up before its kinds is waited for. From the start
// again where it ran for 10 minutes. Thread-compatible.
class BackOff {
 public:
  // How long to wait after an end of what ran for `ran`.
  Millis After(Millis ran);

 private:
  int ends_ = 0;
};

// Between tries of what may come to pass: half a second, then twice as long each time. Thread-compatible.
class RetryDelay {
 public:
  // How long to wait before the next try: `longest` at most, and five minutes.
  Millis Next(Millis longest);

 private:
  Millis next_{500};
};

}  // namespace capi::local
