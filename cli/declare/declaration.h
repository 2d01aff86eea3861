// The Provider object for a provider that clusterctl installed, by clusterctl's configuration. Pure but for the
// configuration.
#pragma once

#include <string>
#include <vector>

#include "cli/declare/fleet.h"
#include "cli/frame/config.h"

namespace capi::cli {

// A value.
struct Declaration {
  kube::Object object;               // kind, name, namespace, spec.version and, where it needs one, spec.fetchConfig
  std::vector<std::string> remarks;  // what couldn't be carried over, and what to do about it: sentences
  bool needs_release = false;        // the operator finds it in ConfigMaps alone (ReleaseMapsOf)
};

Result<Declaration> Declare(const Config& config, const InventoryEntry& entry);

// The names that a Secret of this provider's variables has: those without a default, and those that the configuration
// or the environment sets to something else than their default. Sorted.
Result<std::vector<std::string>> VariablesOf(const Config& config, std::string_view components);

}  // namespace capi::cli
