// `clusterctl version`: what was built, in clusterctl's four forms.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace capi::cli {

// What clusterctl says of itself. A value.
struct BuildInfo {
  std::string version;     // "v0.1.0"
  std::string commit;      // hash, "" where unknown
  std::string tree_state;  // "clean" or "dirty", "" where unknown
  std::string date;        // of the commit, RFC 3339, "" where unknown
  std::string compiler;    // "gcc 12.2.0"
  std::string platform;    // "linux/amd64"
};

BuildInfo ThisBuild();

// The text of `clusterctl version -o {output}`; `output` is "", "short", "yaml" or "json".
Result<std::string> FormatVersion(const BuildInfo& build, std::string_view output);

}  // namespace capi::cli
