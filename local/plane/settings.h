// What a plane is run with, from one `up` to the next. Names and paths, never the values of credentials.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace capi::local {

// A value.
struct Settings {
  std::string programs;                  // --programs; "" for the usual places
  std::vector<std::string> binaries;     // --binary: IMAGE=PATH, PATH absolute
  std::vector<std::string> builds;       // --build: IMAGE=MODULE[/PACKAGE]@VERSION
  std::vector<std::string> environment;  // --env: names of variables that managers see
  bool operator==(const Settings&) const = default;
};

// Those of the file; the defaults where there is none. kInvalidArgument where it isn't what WriteSettings wrote.
Result<Settings> ReadSettings(const std::string& path);
Status WriteSettings(const std::string& path, const Settings& settings);

// In the place of a folder: what --programs of an earlier run has named counts no more.
inline constexpr char kUsualPlaces[] = "-";

// "IMAGE=", which takes back what an earlier run has named for it.
bool IsTakenBack(const std::string& entry);

// The flags ("--binary IMAGE=") of `asked` that take back what `there` doesn't name.
std::vector<std::string> TakenBackInVain(const Settings& there, const Settings& asked);

// What a further `up` asks for over what is there: entries of the same IMAGE, however it is spelled, take the place of
// older ones, or take them back; names are added, and an empty value changes nothing.
Settings Merged(const Settings& there, const Settings& asked);

}  // namespace capi::local
