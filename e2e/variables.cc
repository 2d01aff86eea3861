#include "e2e/variables.h"

#include <cctype>

namespace capi::e2e {

std::map<std::string, std::string> VariablesOf(const ReleaseFolder& release) {
  std::map<std::string, std::string> out;
  std::string text = release.Components();
  for (size_t at = 0; (at = text.find("${", at)) != text.npos; at += 2) {
    size_t end = at + 2;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
    if (end < text.size() && text[end] == '}') out[text.substr(at + 2, end - at - 2)] = "dGVzdA==";
  }
  return out;
}

}  // namespace capi::e2e
