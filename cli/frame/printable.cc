#include "cli/frame/printable.h"

#include <algorithm>

namespace capi::cli {

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {  // the control characters beyond ASCII
      out += '?';
      ++i;
    } else if (byte == '\t' || byte == '\f' || byte == '\r') {
      out += ' ';
    } else {
      out += (byte < ' ' && byte != '\n') || byte == 0x7F ? '?' : text[i];
    }
  }
  return out;
}

std::string PrintableLine(std::string_view text) {
  std::string out = Printable(text);
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

}  // namespace capi::cli
