#include "api/testing/variables.h"

#include <algorithm>
#include <cctype>

namespace capi::api {
namespace {

constexpr std::string_view kBase64 = "dGVzdA==";

bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The brace that closes the variable whose name ends at `from`; npos where none does.
size_t ClosingBrace(std::string_view text, size_t from) {
  size_t close = text.find('}', from);
  for (size_t inner = text.find("${", from); close != text.npos && inner < close; inner = text.find("${", inner + 2)) {
    close = text.find('}', close + 1);
  }
  return close;
}

// `rest` is what stands between the name and the closing brace: "", ":=15m", "/#arn/role: arn".
void ReadRest(std::string_view rest, VariablePlace& place) {
  place.required = rest.empty();
  for (std::string_view sign : {":=", ":-", "=", "-"}) {
    if (!rest.starts_with(sign)) continue;
    place.fallback = rest.substr(sign.size());
    return;
  }
  if (rest.starts_with("/#")) place.replaces = rest.substr(2, rest.find('/', 2) - 2);
}

// Another value of the same kind.
std::string OtherThan(std::string_view standard) {
  std::string_view bare = standard;
  while (!bare.empty() && (bare.front() == '"' || bare.front() == '\'')) bare.remove_prefix(1);
  while (!bare.empty() && (bare.back() == '"' || bare.back() == '\'')) bare.remove_suffix(1);
  if (bare == "true") return "false";
  if (bare == "false") return "true";
  if (bare.empty() || bare == " " || bare.ends_with('=') || bare.starts_with('$')) return std::string(kBase64);
  if (std::all_of(bare.begin(), bare.end(), IsDigit)) return "7";
  if (bare.starts_with(':')) return ":9443";
  if (bare.ends_with('m') && IsDigit(bare.front())) return "20m";
  return std::string(bare) + "-other";
}

}  // namespace

std::vector<VariablePlace> VariablePlaces(std::string_view text) {
  std::vector<VariablePlace> out;
  for (size_t at = 0; (at = text.find("${", at)) != text.npos; at += 2) {
    size_t end = at + 2;
    while (end < text.size() && IsNameChar(text[end])) ++end;
    size_t close = ClosingBrace(text, end);
    if (close == text.npos || end == at + 2) continue;
    VariablePlace& place = out.emplace_back();
    place.begin = at;
    place.end = close + 1;
    place.name = text.substr(at + 2, end - at - 2);
    ReadRest(text.substr(end, close - end), place);
  }
  return out;
}

std::string FillVariables(std::string_view text, const VariableValues& values) {
  std::string out;
  size_t done = 0;
  for (const VariablePlace& place : VariablePlaces(text)) {
    if (place.begin < done) continue;  // in the default of the one before
    out += text.substr(done, place.begin - done);
    auto known = values.find(place.name);
    out += known != values.end() ? known->second : FillVariables(place.fallback, values);
    done = place.end;
  }
  return out.append(text.substr(done));
}

VariableValues RequiredVariablesOf(std::string_view components) {
  VariableValues out;
  for (const VariablePlace& place : VariablePlaces(components)) {
    if (place.required) out[place.name] = kBase64;
  }
  return out;
}

VariableValues VariablesOf(const ReleaseFolder& release) { return RequiredVariablesOf(release.Components()); }

VariableValues AllVariablesOf(std::string_view components) {
  VariableValues out = RequiredVariablesOf(components);
  for (const VariablePlace& place : VariablePlaces(components)) {
    if (!place.replaces.empty()) {
      out[place.name] = place.replaces + ":aws:iam::1:role/other";
    } else if (!place.required) {
      out.try_emplace(place.name, OtherThan(place.fallback));
    }
  }
  return out;
}

}  // namespace capi::api
