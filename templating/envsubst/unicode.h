// The little of Unicode that templates need: decoding as Go decodes, and simple case mapping.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace capi::templating {

struct Rune {
  char32_t value = 0;
  size_t size = 0;  // bytes; 1 for a byte that is no valid UTF-8, which reads as U+FFFD
  bool valid = true;
};

// `text` isn't empty.
Rune DecodeRune(std::string_view text);
void AppendRune(std::string& out, char32_t rune);

// Simple (one to one) case mapping of Unicode 14; the character itself where there is none.
char32_t ToUpperRune(char32_t rune);
char32_t ToLowerRune(char32_t rune);

std::string ToUpperText(std::string_view text);
std::string ToLowerText(std::string_view text);

}  // namespace capi::templating
