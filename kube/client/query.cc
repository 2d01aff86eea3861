#include "kube/client/query.h"

#include <fmt/core.h>

namespace capi::kube {

std::string QueryEscape(std::string_view text) {
  std::string out;
  for (unsigned char c : text) {
    bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
                 c == '_' || c == '~';
    if (plain) {
      out += static_cast<char>(c);
    } else {
      out += fmt::format("%{:02X}", c);
    }
  }
  return out;
}

void Query::Add(std::string_view key, std::string_view value) {
  if (value.empty()) return;
  if (!text_.empty()) text_ += '&';
  text_ += std::string(key) + "=" + QueryEscape(value);
}

}  // namespace capi::kube
