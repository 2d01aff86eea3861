// `clusterctl version`: what was built, in clusterctl's four forms.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/this_build.h"

namespace capi::cli {

// The text of `clusterctl version -o {output}`; `output` is "", "short", "yaml" or "json".
Result<std::string> FormatVersion(const BuildInfo& build, std::string_view output);

}  // namespace capi::cli
