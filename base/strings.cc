#include "base/strings.h"

#include <fmt/core.h>

#include <algorithm>

namespace capi {
namespace {

bool IsLabelChar(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Bytes of the UTF-8 sequence that starts with `lead`; 0 for none. Overlong and surrogate forms are checked by the
// second byte's range, `low` to `high`.
int SequenceLength(unsigned char lead, unsigned char& low, unsigned char& high) {
  low = 0x80, high = 0xBF;
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    return 4;
  }
  return 0;
}

}  // namespace

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> out;
  if (text.empty()) return out;
  for (size_t at = 0;;) {
    size_t end = text.find(separator, at);
    out.emplace_back(text.substr(at, end == text.npos ? end : end - at));
    if (end == text.npos) return out;
    at = end + 1;
  }
}

std::string Join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (const auto& part : parts) {
    if (&part != parts.data()) out += separator;
    out += part;
  }
  return out;
}

std::string JoinNames(std::span<const std::string> names, size_t most) {
  std::string out = Join(names.subspan(0, std::min(most, names.size())), ", ");
  if (names.size() > most) out += fmt::format("{}{} more", out.empty() ? "" : " and ", names.size() - most);
  return out;
}

std::string Shorten(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return std::string(text.substr(0, most)) + "...";
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string ToLower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string ToUpper(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

std::string ReplaceAll(std::string text, std::string_view from, std::string_view to) {
  if (from.empty()) return text;
  std::string out;
  size_t at = 0;
  for (size_t hit; (hit = text.find(from, at)) != text.npos; at = hit + from.size()) {
    out.append(text, at, hit - at).append(to);
  }
  return out.append(text, at);
}

bool IsDns1123Label(std::string_view text) {
  if (text.empty() || text.size() > 63 || !IsLabelChar(text.front()) || !IsLabelChar(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return IsLabelChar(c) || c == '-'; });
}

bool IsDns1123Subdomain(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  for (size_t at = 0;;) {
    size_t dot = text.find('.', at);
    std::string_view part = text.substr(at, dot == text.npos ? dot : dot - at);
    if (part.empty() || !IsLabelChar(part.front()) || !IsLabelChar(part.back())) return false;
    if (!std::all_of(part.begin(), part.end(), [](char c) { return IsLabelChar(c) || c == '-'; })) return false;
    if (dot == text.npos) return true;
    at = dot + 1;
  }
}

bool IsValidUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    unsigned char low, high;
    int length = SequenceLength(static_cast<unsigned char>(text[i]), low, high);
    if (length == 0 || i + static_cast<size_t>(length) > text.size()) return false;
    for (int k = 1; k < length; ++k) {
      auto c = static_cast<unsigned char>(text[i + static_cast<size_t>(k)]);
      if (c < (k == 1 ? low : 0x80) || c > (k == 1 ? high : 0xBF)) return false;
    }
    i += static_cast<size_t>(length);
  }
  return true;
}

}  // namespace capi
