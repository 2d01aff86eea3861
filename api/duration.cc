// Durations as Go writes them; the texts of errors are those of its time.ParseDuration.
#include <fmt/format.h>

#include "api/text.h"
#include "api/types.h"

namespace capi::api {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanos;
};
constexpr Unit kUnits[] = {
    {"ns", 1},         {"us", 1'000},        {"\xC2\xB5s", 1'000},  {"\xCE\xBCs", 1'000},
    {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000},
};

std::int64_t NanosOf(std::string_view unit) {
  for (const Unit& u : kUnits) {
    if (u.name == unit) return u.nanos;
  }
  return 0;
}

std::string_view TakeDigits(std::string_view& text) {
  size_t end = text.find_first_not_of("0123456789");
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(digits.size());
  return digits;
}

// "1.5h": one number and its unit, taken off the front of `text`.
Result<std::int64_t> TakeTerm(std::string_view& text, std::string_view whole) {
  Error invalid{Code::kInvalidArgument, "time: invalid duration " + GoQuote(whole), {}};
  std::string_view digits = TakeDigits(text);
  std::string_view fraction;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    fraction = TakeDigits(text);
  }
  if (digits.empty() && fraction.empty()) return invalid;
  std::string_view unit = text.substr(0, text.find_first_of(".0123456789"));
  text.remove_prefix(unit.size());
  if (unit.empty()) {
    return Error{Code::kInvalidArgument, "time: missing unit in duration " + GoQuote(whole), {}};
  }
  std::int64_t scale = NanosOf(unit);
  if (scale == 0) {
    return Error{
        Code::kInvalidArgument, fmt::format("time: unknown unit {} in duration {}", GoQuote(unit), GoQuote(whole)), {}};
  }
  std::uint64_t number = 0;
  if (!digits.empty() && !ParseUint(digits, number)) return invalid;
  std::int64_t nanos = 0;
  if (__builtin_mul_overflow(number, scale, &nanos)) return invalid;
  for (char c : fraction) {
    scale /= 10;
    if (__builtin_add_overflow(nanos, (c - '0') * scale, &nanos)) return invalid;
  }
  return nanos;
}

}  // namespace

Result<Millis> ParseDuration(std::string_view text) {
  Error invalid{Code::kInvalidArgument, "time: invalid duration " + GoQuote(text), {}};
  std::string_view rest = text;
  bool negative = !rest.empty() && rest.front() == '-';
  if (negative || (!rest.empty() && rest.front() == '+')) rest.remove_prefix(1);
  if (rest.empty()) return invalid;
  if (rest == "0") return Millis(0);
  std::int64_t nanos = 0;
  while (!rest.empty()) {
    std::int64_t term = TRY(TakeTerm(rest, text));
    if (__builtin_add_overflow(nanos, term, &nanos)) return invalid;
  }
  auto millis = std::chrono::duration_cast<Millis>(std::chrono::nanoseconds(nanos));
  return negative ? -millis : millis;
}

std::string FormatDuration(Millis duration) {
  const std::int64_t count = duration.count();
  const std::uint64_t all = count < 0 ? -static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
  std::string out = count < 0 ? "-" : "";
  if (all == 0) return "0s";
  if (all < 1000) return out + fmt::format("{}ms", all);
  const std::uint64_t hours = all / 3'600'000, minutes = all / 60'000 % 60, rest = all % 60'000;
  if (hours > 0) out += fmt::format("{}h", hours);
  if (hours > 0 || minutes > 0) out += fmt::format("{}m", minutes);
  std::string fraction = rest % 1000 == 0 ? "" : fmt::format(".{:03}", rest % 1000);
  while (fraction.ends_with('0')) fraction.pop_back();
  return out + fmt::format("{}{}s", rest / 1000, fraction);
}

}  // namespace capi::api
