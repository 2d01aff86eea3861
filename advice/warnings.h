// What is said of a provider that is legal but unwise, by admission and by `clusterctl lint`. Pure.
#pragma once

#include <string>
#include <vector>

#include "api/types.h"

namespace capi::advice {

// Each begins with its field's path and says what to do instead; twenty at most, and how many more there are.
std::vector<std::string> AdmissionWarnings(const api::Provider& provider, const api::Provider* old = nullptr);

}  // namespace capi::advice
