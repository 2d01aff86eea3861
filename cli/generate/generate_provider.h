// `clusterctl generate provider`: the objects of a provider's release, as YAML.
#pragma once

#include <map>
#include <string>

#include "api/kinds.h"
#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct GenerateProviderOptions {
  std::map<api::ProviderType, std::string> providers;  // NAME[:VERSION] by type; "" counts as not given
  std::string target_namespace, write_to;
  bool raw = false, describe = false;
};

Status GenerateProvider(const Context& ctx, const GlobalOptions& global, const GenerateProviderOptions& options,
                        World& world);

}  // namespace capi::cli
