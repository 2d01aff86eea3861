#include "local/node/command/expand.h"

namespace capi::local {

std::string Expand(std::string_view text, const Variables& variables) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '$' || at + 1 == text.size()) {
      out += text[at];
    } else if (text[at + 1] == '$') {
      out += text[at++];
    } else if (size_t end = text.find(')', at); text[at + 1] != '(' || end == text.npos) {
      out += text[at];
    } else {
      std::string_view whole = text.substr(at, end + 1 - at);
      auto found = variables.find(std::string(whole.substr(2, whole.size() - 3)));
      out += found == variables.end() ? whole : std::string_view(found->second);
      at = end;
    }
  }
  return out;
}

}  // namespace capi::local
