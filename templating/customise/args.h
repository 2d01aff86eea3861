// The args of a container: finding and setting flags in the forms people write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace capi::templating {

// "--flag=value", "--flag value", a bare "--flag", and the same with one dash. A flag given without dashes means just
// that word before a '='. A value.
class Args {
 public:
  explicit Args(const Json& container);

  bool Has(std::string_view flag) const { return Index(flag).has_value(); }
  // "" for a bare flag; nullopt where it isn't there.
  std::optional<std::string> Get(std::string_view flag) const;
  // Replaces the first occurrence where it stands, in the form "flag=value", and drops others; else appends.
  void Set(std::string_view flag, std::string_view value);
  // Names of all flags as written: "--leader-elect".
  std::vector<std::string> Flags() const;

  // Writes them back; a container that had none and got none keeps none.
  void Store(Json& container) const;

 private:
  std::optional<size_t> Index(std::string_view flag, size_t from = 0) const;
  bool ValueFollows(size_t index) const;

  std::vector<std::string> args_;
};

// "leader-elect" of "--leader-elect=true".
std::string_view FlagName(std::string_view arg);

// Names that managers give to the flag which limits them to one namespace.
inline constexpr std::string_view kNamespaceFlags[] = {"--namespace", "--watch-namespace"};
bool IsNamespaceFlag(std::string_view arg);  // with or without dashes and a value

}  // namespace capi::templating
