// Which providers a command line asks for. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "cli/frame/provider_name.h"

namespace capi::cli {

// What the flags name, NAME[:VERSION] each; "-" for none of that kind. A value.
using ProviderFlags = std::map<api::ProviderType, std::vector<std::string>>;

// A value.
struct ProviderChoice {
  api::ProviderType type = api::ProviderType::kCore;
  ProviderName name;
};

// Versions of installations that were begun and aren't recorded yet: a second run goes on with them.
using BegunVersions = std::map<std::pair<api::ProviderType, std::string>, std::string>;

// By type, in the order of the flags. At the first time the core, and kubeadm for bootstrap and control plane, where
// the flags name none. kInvalidArgument in clusterctl's words.
Result<std::vector<ProviderChoice>> ChooseProviders(const ProviderFlags& flags, bool first_time,
                                                    const BegunVersions& begun = {});

}  // namespace capi::cli
