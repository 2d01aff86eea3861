#include "cli/describe/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace capi::cli::describe {
namespace {

constexpr std::string_view kBlanks = " \t\f\r";
constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour, kYear = 365 * kDay;

// "3m20s", or "3m" without a rest.
std::string Two(std::int64_t seconds, std::int64_t unit, char name, std::int64_t rest_unit, char rest_name) {
  std::int64_t rest = seconds % unit / rest_unit;
  std::string out = fmt::format("{}{}", seconds / unit, name);
  return rest == 0 ? out : out + fmt::format("{}{}", rest, rest_name);
}

std::string One(std::int64_t seconds, std::int64_t unit, char name) {
  return fmt::format("{}{}", seconds / unit, name);
}

// As Go's regular expressions split: text that begins or ends with blanks has an empty word there.
std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> out;
  while (true) {
    size_t end = line.find_first_of(kBlanks);
    out.push_back(line.substr(0, end));
    if (end == line.npos) return out;
    size_t next = line.find_first_not_of(kBlanks, end);
    line.remove_prefix(next == line.npos ? line.size() : next);
  }
}

void WrapLine(std::string_view line, size_t width, std::vector<std::string>& out) {
  size_t indent = std::min(line.find_first_not_of(' '), line.size());
  std::string current(indent, ' ');
  std::string next_indent(indent + (Trim(line).starts_with("* ") ? 2 : 0), ' ');
  for (std::string_view word : Words(line)) {
    if (current.size() + word.size() >= width) {
      out.push_back(std::move(current));
      current = next_indent + std::string(word);
      continue;
    }
    if (!Trim(current).empty()) current += ' ';
    current += word;
  }
  out.push_back(std::move(current));
}

}  // namespace

std::string Age(const std::optional<WallTime>& since, WallTime now) {
  if (!since) return "<unknown>";
  auto seconds = std::chrono::duration_cast<Seconds>(now - *since).count();
  if (seconds < -1) return "<invalid>";  // clocks differ by a second
  if (seconds < 2 * kMinute) return fmt::format("{}s", std::max<std::int64_t>(seconds, 0));
  if (seconds < 10 * kMinute) return Two(seconds, kMinute, 'm', 1, 's');
  if (seconds < 3 * kHour) return One(seconds, kMinute, 'm');
  if (seconds < 8 * kHour) return Two(seconds, kHour, 'h', kMinute, 'm');
  if (seconds < 2 * kDay) return One(seconds, kHour, 'h');
  if (seconds < 8 * kDay) return Two(seconds, kDay, 'd', kHour, 'h');
  if (seconds < 2 * kYear) return One(seconds, kDay, 'd');
  if (seconds < 8 * kYear) return Two(seconds, kYear, 'y', kDay, 'd');
  return One(seconds, kYear, 'y');
}

std::vector<std::string> WrapMessage(std::string_view text, size_t width) {
  std::vector<std::string> out;
  while (true) {
    size_t end = text.find('\n');
    WrapLine(text.substr(0, end), width, out);
    if (end == text.npos) return out;
    text.remove_prefix(end + 1);
  }
}

}  // namespace capi::cli::describe
