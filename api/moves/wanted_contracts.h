// The contracts by which a version is chosen where none is named (behaviour.md I3). Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/kinds.h"

namespace capi::api {

// Newest first: those that the core accepts, and for the core itself all known ones. `core` is the contract of the
// core; nullopt or "" where there is none, or it isn't installed, or nobody knows it, and any known one will do.
std::vector<std::string> ContractsFor(ProviderType type, const std::optional<std::string>& core);

}  // namespace capi::api
