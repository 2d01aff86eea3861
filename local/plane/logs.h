// Logs of a plane's processes don't grow without end.
#pragma once

#include <cstddef>
#include <string>

namespace capi::local {

inline constexpr size_t kMostLog = 32u << 20;

// Of each NAME.log in `folder` that has more than `most` bytes: what is there goes to NAME.log.old, in the place of an
// older one, and the file begins anew. Its process goes on writing into it; what it writes in that moment may be lost.
void BoundLogs(const std::string& folder, size_t most = kMostLog);

}  // namespace capi::local
