// Where tests find the real releases, and what makes their objects comparable with the vectors'
// (base/testing/vectors.h).
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace capi::templating {

inline constexpr std::string_view kNoReleases = "RELEASES_DIR is not set";

// A file below RELEASES_DIR; "" when the variable isn't set.
std::string ReleasesDir();
std::string LoadReleaseFile(const std::string& path);

// `value` without nulls, empty objects and empty lists, at any depth: Go's typed structures add them.
Json WithoutEmpty(Json value);

// `want` without members that `got` lacks and that are zero ("", 0, false) in it: the reference sends some kinds
// through Go's typed structures, which write them out. Both went through WithoutEmpty.
Json WithoutZeroes(Json want, const Json& got);

}  // namespace capi::templating
