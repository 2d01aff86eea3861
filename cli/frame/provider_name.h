// Providers as people name them on the command line: "aws", "aws:v2.11.1".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace capi::cli {

// A value. `version` is "" for the default, and as written otherwise.
struct ProviderName {
  std::string name, version;

  // The name in lower case. kInvalidArgument in clusterctl's words.
  static Result<ProviderName> Parse(std::string_view text);
};

}  // namespace capi::cli
