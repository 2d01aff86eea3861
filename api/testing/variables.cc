#include "api/testing/variables.h"

#include <algorithm>
#include <cctype>
#include <functional>

namespace capi::api {
namespace {

constexpr std::string_view kBase64 = "dGVzdA==";

bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Calls `each` with the name and what stands between it and the first "}".
void ForEachVariable(std::string_view text, const std::function<void(std::string, std::string_view)>& each) {
  for (size_t at = 0; (at = text.find("${", at)) != text.npos; at += 2) {
    size_t end = at + 2;
    while (end < text.size() && IsNameChar(text[end])) ++end;
    size_t close = text.find('}', end);
    if (close == text.npos) return;
    if (end > at + 2) each(std::string(text.substr(at + 2, end - at - 2)), text.substr(end, close - end));
  }
}

// What follows the operator: "15m" of ":=15m".
std::string_view DefaultOf(std::string_view rest) {
  size_t at = rest.find_first_not_of(":=-");
  if (rest.starts_with(":=:")) return rest.substr(2);  // ":8443"
  return at == rest.npos ? "" : rest.substr(at);
}

// Another value of the same kind.
std::string OtherThan(std::string_view standard) {
  std::string_view bare = standard;
  while (!bare.empty() && (bare.front() == '"' || bare.front() == '\'')) bare.remove_prefix(1);
  while (!bare.empty() && (bare.back() == '"' || bare.back() == '\'')) bare.remove_suffix(1);
  if (bare == "true") return "false";
  if (bare == "false") return "true";
  if (bare.empty() || bare == " " || bare.ends_with('=')) return std::string(kBase64);
  if (std::all_of(bare.begin(), bare.end(), IsDigit)) return "7";
  if (bare.starts_with(':')) return ":9443";
  if (bare.ends_with('m') && IsDigit(bare.front())) return "20m";
  return std::string(bare) + "-other";
}

}  // namespace

VariableValues RequiredVariablesOf(std::string_view components) {
  VariableValues out;
  ForEachVariable(components, [&](const std::string& name, std::string_view rest) {
    if (rest.empty()) out[name] = kBase64;
  });
  return out;
}

VariableValues VariablesOf(const ReleaseFolder& release) { return RequiredVariablesOf(release.Components()); }

VariableValues AllVariablesOf(std::string_view components) {
  VariableValues out = RequiredVariablesOf(components);
  ForEachVariable(components, [&](const std::string& name, std::string_view rest) {
    if (rest.starts_with("/#")) {  // "${ROLE/#arn/...}": a value that it changes
      out[name] = std::string(rest.substr(2, rest.find('/', 2) - 2)) + ":aws:iam::1:role/other";
    } else if (!rest.empty()) {
      out.try_emplace(name, OtherThan(DefaultOf(rest)));
    }
  });
  return out;
}

}  // namespace capi::api
