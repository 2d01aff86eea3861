#include "base/yaml/yaml_lines.h"

namespace capi {
namespace {

// The next line's beginning behind `at`; npos where there is none.
size_t NextLine(std::string_view text, size_t at) {
  for (; at < text.size(); ++at) {
    std::string_view rest = text.substr(at);
    if (rest[0] == '\n') return at + 1;
    if (rest[0] == '\r') return at + (rest.starts_with("\r\r\n") ? 3 : rest.starts_with("\r\n") ? 2 : 1);
    if (rest.starts_with("\xC2\x85")) return at + 2;
    if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9")) return at + 3;
  }
  return text.npos;
}

}  // namespace

size_t CountYamlBreaks(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; (at = NextLine(text, at)) != text.npos;) ++count;
  return count;
}

size_t OffsetOfYamlLine(std::string_view text, size_t line) {
  size_t at = 0;
  for (size_t next = 0; line > 1 && (next = NextLine(text, at)) != text.npos; --line) at = next;
  return at;
}

}  // namespace capi
