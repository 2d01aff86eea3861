// What the kernel tells of a process, for tests that bound what one takes.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace capi {

// The number of a line of /proc/PID/status, by the line's name: "VmRSS" (memory now) and "VmHWM" (at its peak) in KiB,
// "Threads" as a count. An error where there is no such process or line (a process that has ended has no memory):
// nothing was measured then, and 0 would pass every upper bound. Thread-safe.
Result<size_t> ProcessStatus(int pid, std::string_view name);

}  // namespace capi
