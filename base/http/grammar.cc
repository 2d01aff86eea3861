#include "base/http/grammar.h"

#include <strings.h>

#include <charconv>

#include "base/strings.h"

namespace capi::http {

bool SameName(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool IsToken(std::string_view text) {
  constexpr std::string_view kOther = "!#$%&'*+-.^_`|~";
  for (char c : text) {
    bool alphanumeric = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    if (!alphanumeric && kOther.find(c) == kOther.npos) return false;
  }
  return !text.empty();
}

bool ReadNumber(std::string_view text, int base, std::uint64_t& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string_view> Values(const Headers& headers, std::string_view name) {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : headers.all())
    if (SameName(key, name)) values.push_back(value);
  return values;
}

bool HasItem(const Headers& headers, std::string_view name, std::string_view item) {
  for (std::string_view value : Values(headers, name))
    for (const std::string& candidate : Split(ToLower(value), ','))
      if (Trim(candidate) == item) return true;
  return false;
}

}  // namespace capi::http
