#include "templating/customise/args.h"

#include <algorithm>
#include <iterator>

namespace capi::templating {
namespace {

bool IsFlag(std::string_view arg) { return arg.starts_with('-'); }

std::string_view BeforeEquals(std::string_view arg) { return arg.substr(0, arg.find('=')); }

bool Matches(std::string_view arg, std::string_view flag) {
  if (IsFlag(flag)) return IsFlag(arg) && FlagName(arg) == FlagName(flag);
  return arg.find('=') != std::string_view::npos && BeforeEquals(arg) == flag;
}

}  // namespace

std::string_view FlagName(std::string_view arg) {
  for (int dashes = 0; dashes < 2 && arg.starts_with('-'); ++dashes) arg.remove_prefix(1);
  return BeforeEquals(arg);
}

bool IsNamespaceFlag(std::string_view arg) {
  return std::any_of(std::begin(kNamespaceFlags), std::end(kNamespaceFlags),
                     [&](std::string_view flag) { return FlagName(flag) == FlagName(arg); });
}

Args::Args(const Json& container) {
  const Json* list = Find(container, {"args"});
  if (list == nullptr || !list->is_array()) return;
  for (const Json& arg : *list) args_.push_back(arg.is_string() ? arg.get<std::string>() : ToJsonText(arg));
}

std::optional<size_t> Args::Index(std::string_view flag, size_t from) const {
  for (size_t i = from; i < args_.size(); ++i) {
    if (Matches(args_[i], flag)) return i;
  }
  return std::nullopt;
}

// "--flag" and then a word that is no flag.
bool Args::ValueFollows(size_t index) const {
  return args_[index].find('=') == std::string::npos && index + 1 < args_.size() && !IsFlag(args_[index + 1]);
}

std::optional<std::string> Args::Get(std::string_view flag) const {
  auto index = Index(flag);
  if (!index) return std::nullopt;
  const std::string& arg = args_[*index];
  if (size_t equals = arg.find('='); equals != std::string::npos) return arg.substr(equals + 1);
  return ValueFollows(*index) ? args_[*index + 1] : "";
}

void Args::Set(std::string_view flag, std::string_view value) {
  std::string written = std::string(flag) + "=" + std::string(value);
  auto first = Index(flag);
  if (!first) {
    args_.push_back(std::move(written));
    return;
  }
  // A flag that is switched on or off never takes the next word.
  bool is_switch = value == "true" || value == "false";
  for (auto at = first; at; at = Index(flag, *first + 1)) {
    auto begin = args_.begin() + static_cast<std::ptrdiff_t>(*at);
    args_.erase(begin, begin + (!is_switch && ValueFollows(*at) ? 2 : 1));
    if (at == first) args_.insert(args_.begin() + static_cast<std::ptrdiff_t>(*first), written);
  }
}

std::vector<std::string> Args::Flags() const {
  std::vector<std::string> out;
  for (const std::string& arg : args_) {
    if (IsFlag(arg)) out.emplace_back(BeforeEquals(arg));
  }
  return out;
}

void Args::Store(Json& container) const {
  if (args_.empty() && !container.contains("args")) return;
  container["args"] = args_;
}

}  // namespace capi::templating
