// Entries of `providers` in a clusterctl configuration file: where the releases of further providers come from.
#pragma once

#include <string>

#include "api/kinds.h"
#include "base/json.h"
#include "base/result.h"

namespace capi::fetch {

// One entry as written. A value.
struct ProviderEntry {
  std::string name, url, type;  // type: "InfrastructureProvider"
};

// kInvalidArgument for what is no map of texts. Other keys are ignored.
Result<ProviderEntry> ReadProviderEntry(const Json& entry);

// The type of an entry whose fields make sense; kInvalidArgument in clusterctl's words for others.
Result<api::ProviderType> CheckProviderEntry(const ProviderEntry& entry);

}  // namespace capi::fetch
