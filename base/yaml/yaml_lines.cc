#include "base/yaml/yaml_lines.h"

namespace capi {
namespace {

// The next line's beginning behind `at`; npos where there is none.
size_t NextLine(std::string_view text, size_t at, bool of_stream) {
  for (; at < text.size(); ++at) {
    std::string_view rest = text.substr(at);
    if (rest[0] == '\n') return at + 1;
    if (rest[0] == '\r') return at + (of_stream && rest.starts_with("\r\r\n") ? 3 : rest.starts_with("\r\n") ? 2 : 1);
    if (rest.starts_with("\xC2\x85")) return at + 2;
    if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9")) return at + 3;
  }
  return text.npos;
}

size_t CountBreaks(std::string_view text, bool of_stream) {
  size_t count = 0;
  for (size_t at = 0; (at = NextLine(text, at, of_stream)) != text.npos;) ++count;
  return count;
}

}  // namespace

size_t CountYamlBreaks(std::string_view text) { return CountBreaks(text, false); }

size_t CountYamlStreamBreaks(std::string_view stream) { return CountBreaks(stream, true); }

size_t OffsetOfYamlStreamLine(std::string_view stream, size_t line) {
  size_t at = 0;
  for (size_t next = 0; line > 1 && (next = NextLine(stream, at, true)) != stream.npos; --line) at = next;
  return at;
}

}  // namespace capi
