#include "templating/envsubst/identifier.h"

#include <re2/re2.h>

namespace capi::templating {
namespace {

bool IsAsciiName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// re2 knows Unicode's classes; it is asked only where a name leaves ASCII.
size_t UnicodeLength(std::string_view text) {
  static const RE2 kName(R"([\p{L}\p{Nd}_]+)");
  re2::StringPiece rest(text.data(), text.size());
  return RE2::Consume(&rest, kName) ? text.size() - rest.size() : 0;
}

}  // namespace

size_t IdentifierLength(std::string_view text) {
  size_t i = 0;
  while (i < text.size() && IsAsciiName(text[i])) ++i;
  if (i < text.size() && static_cast<unsigned char>(text[i]) >= 0x80) i += UnicodeLength(text.substr(i));
  return i;
}

}  // namespace capi::templating
