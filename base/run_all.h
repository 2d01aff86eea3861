// Tasks side by side.
#pragma once

#include <functional>
#include <vector>

namespace capi {

// Runs all `tasks` on at most `threads` threads, the caller's among them, begun in their order, and returns when each
// has ended. What the first that throws has thrown is thrown here then. Thread-safe.
void RunAll(size_t threads, const std::vector<std::function<void()>>& tasks);

}  // namespace capi
