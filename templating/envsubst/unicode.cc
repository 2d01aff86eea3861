#include "templating/envsubst/unicode.h"

#include <algorithm>
#include <iterator>

#include "templating/envsubst/unicode_case.h"

namespace capi::templating {
namespace {

// A column of `ranges`, looked up.
template <size_t N>
char32_t MapCase(const CaseRange (&ranges)[N], char32_t rune) {
  const auto* after = std::upper_bound(std::begin(ranges), std::end(ranges), rune,
                                       [](char32_t value, const CaseRange& range) { return value < range.first; });
  if (after == std::begin(ranges)) return rune;
  const CaseRange& range = *std::prev(after);
  if (rune > range.last || (rune - range.first) % range.step != 0) return rune;
  return static_cast<char32_t>(static_cast<std::int32_t>(rune) + range.delta);
}

std::string MapText(std::string_view text, char32_t (*map)(char32_t)) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    Rune rune = DecodeRune(text.substr(i));
    AppendRune(out, map(rune.value));
    i += rune.size;
  }
  return out;
}

}  // namespace

Rune DecodeRune(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const Rune bad{0xFFFD, 1, false};
  unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return bad;
  char32_t value = lead & (0xFFu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return bad;
    value = (value << 6) | (byte(i) & 0x3F);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[size] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return bad;
  return {value, size, true};
}

void AppendRune(std::string& out, char32_t rune) {
  if (rune < 0x80) {
    out += static_cast<char>(rune);
  } else if (rune < 0x800) {
    out += static_cast<char>(0xC0 | (rune >> 6));
    out += static_cast<char>(0x80 | (rune & 0x3F));
  } else if (rune < 0x10000) {
    out += static_cast<char>(0xE0 | (rune >> 12));
    out += static_cast<char>(0x80 | ((rune >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (rune & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (rune >> 18));
    out += static_cast<char>(0x80 | ((rune >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((rune >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (rune & 0x3F));
  }
}

char32_t ToUpperRune(char32_t rune) { return MapCase(kToUpper, rune); }
char32_t ToLowerRune(char32_t rune) { return MapCase(kToLower, rune); }

std::string ToUpperText(std::string_view text) { return MapText(text, ToUpperRune); }
std::string ToLowerText(std::string_view text) { return MapText(text, ToLowerRune); }

}  // namespace capi::templating
