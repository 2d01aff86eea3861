#include "base/http/token.h"

namespace capi::http {

bool IsToken(std::string_view text) {
  constexpr std::string_view kOther = "!#$%&'*+-.^_`|~";
  for (char c : text) {
    bool alphanumeric = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    if (!alphanumeric && kOther.find(c) == kOther.npos) return false;
  }
  return !text.empty();
}

}  // namespace capi::http
