#include "kube/client/warnings.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/strings.h"

namespace capi::kube {
namespace {

constexpr size_t kLongest = 1024;
constexpr std::string_view kCode = "299 ";  // the one that API servers use

// Takes a quoted string from the front of `text`.
std::optional<std::string> TakeQuoted(std::string_view& text) {
  if (!text.starts_with('"')) return std::nullopt;
  std::string out;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return out;
    }
    if (text[i] == '\\' && ++i == text.size()) break;
    out += text[i];
  }
  return std::nullopt;
}

// Takes `299 agent "text"`, with a date behind it or not.
std::optional<std::string> TakeWarning(std::string_view& text) {
  if (!text.starts_with(kCode)) return std::nullopt;
  text = text.substr(kCode.size());
  size_t space = text.find(' ');
  if (space == 0 || space == text.npos) return std::nullopt;
  text = text.substr(space + 1);
  std::optional<std::string> warning = TakeQuoted(text);
  if (!warning) return std::nullopt;
  text = Trim(text);
  if (text.starts_with('"') && !TakeQuoted(text)) return std::nullopt;
  text = Trim(text);
  return warning;
}

}  // namespace

std::vector<std::string> WarningsOf(const http::Headers& headers) {
  std::vector<std::string> out;
  for (const auto& [name, value] : headers.all()) {
    if (ToLower(name) != "warning") continue;
    std::string_view rest = Trim(value);
    while (auto warning = TakeWarning(rest)) {
      if (warning->size() > kLongest) warning = fmt::format("a warning of {} bytes", warning->size());
      bool usable = !warning->empty() && IsValidUtf8(*warning);
      if (usable && std::find(out.begin(), out.end(), *warning) == out.end()) out.push_back(std::move(*warning));
      if (!rest.starts_with(',')) break;
      rest = Trim(rest.substr(1));
    }
  }
  return out;
}

bool IsFieldWarning(std::string_view warning) {
  for (std::string_view prefix : {"unknown field \"", "duplicate field \""}) {
    if (!warning.starts_with(prefix) || !warning.ends_with('"') || warning.size() <= prefix.size() + 1) continue;
    std::string_view path = warning.substr(prefix.size(), warning.size() - prefix.size() - 1);
    if (path.find('"') == path.npos) return true;
  }
  return false;
}

}  // namespace capi::kube
