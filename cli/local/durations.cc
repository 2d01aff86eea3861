#include "cli/local/durations.h"

#include <fmt/format.h>

#include "api/types.h"

namespace capi::cli {

namespace {

constexpr std::chrono::hours kMost(10'000);  // clocks count in nanoseconds

}  // namespace

Result<Millis> PositiveDuration(const std::string& flag, const std::string& text) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  auto duration = api::ParseDuration(is_number ? text + "s" : text);
  if (duration.ok() && *duration > kMost)
    return Error{Code::kInvalidArgument, fmt::format("{}: {} is more than {}", flag, text, "10000h"), {}};
  if (duration.ok() && *duration > Millis(0)) return *duration;
  return Error{Code::kInvalidArgument, fmt::format("{}: {} is no duration above 0; write 90s or 20m", flag, text), {}};
}

}  // namespace capi::cli
