// What a piece of work takes: time of the processor, and memory at its peak.
#pragma once

#include <functional>
#include <string>

namespace capi {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMeasuresCost = false;  // sanitizers have memory and times of their own
#else
inline constexpr bool kMeasuresCost = true;
#endif

// What a piece of work said, and what it took. A value.
struct Cost {
  std::string answer;  // "it ended: ..." where it didn't come to its end
  double seconds = 0, bytes = 0;
};

// Runs `work` in a process of its own, so that its peak is that of this work alone. No other thread may run: the
// process is forked.
Cost Measure(const std::function<std::string()>& work);

}  // namespace capi
