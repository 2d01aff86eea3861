// How long the parts of a pass take.
#pragma once

#include <map>

#include "base/clock.h"

namespace capi::ops {

// The pass itself, and in it: a release that is read or fetched, rendered, applied.
enum class Phase { kReconcile, kFetch, kRender, kApply };

// One that took no part isn't there.
using PhaseTimes = std::map<Phase, MonoTime::duration>;

inline void AddTimes(PhaseTimes& sum, const PhaseTimes& more) {
  for (const auto& [phase, time] : more) sum[phase] += time;
}

// Adds the time until its end. Thread-compatible, as `times` is.
class PhaseTimer {
 public:
  PhaseTimer(Clock& clock, PhaseTimes& times, Phase phase)
      : clock_(clock), times_(times), phase_(phase), began_(clock.Monotonic()) {}
  ~PhaseTimer() { times_[phase_] += clock_.Monotonic() - began_; }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  Clock& clock_;
  PhaseTimes& times_;
  const Phase phase_;
  const MonoTime began_;
};

}  // namespace capi::ops
