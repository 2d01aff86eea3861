// `clusterctl generate yaml`: a YAML text with its variables filled in.
#pragma once

#include <string>

#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct GenerateYamlOptions {
  std::string from = "-";
  bool list_variables = false;
};

Status GenerateYaml(const Context& ctx, const GlobalOptions& global, const GenerateYamlOptions& options, World& world);

}  // namespace capi::cli
