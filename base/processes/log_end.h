// The end of a log, without reading all of it: one may have gigabytes.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace capi {

inline constexpr std::int64_t kLogEnd = 64 << 10;  // bytes

// What a file has behind `from`, or from its beginning where it is shorter than that; the last kLogEnd bytes at most,
// and then whole lines alone: half of one may be the half of a secret. kNotFound where there is none.
Result<std::string> EndOfLog(const std::string& path, std::int64_t from = 0);

// The last `lines` of that, without the last line's break; for people: where it can't be read, why.
std::string LastLines(const std::string& path, size_t lines);

}  // namespace capi
