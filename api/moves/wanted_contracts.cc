#include "api/moves/wanted_contracts.h"

#include <algorithm>

#include "api/release.h"

namespace capi::api {

std::vector<std::string> ContractsFor(ProviderType type, const std::optional<std::string>& core) {
  const bool any = type == ProviderType::kCore || !core || core->empty();
  std::vector<std::string> contracts = any ? KnownContracts() : AcceptedBy(*core);
  std::reverse(contracts.begin(), contracts.end());
  return contracts;
}

}  // namespace capi::api
