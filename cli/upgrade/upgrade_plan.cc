#include "cli/upgrade/upgrade_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/text.h"
#include "base/strings.h"

namespace capi::cli {
namespace {

Error Refused(std::string message) { return {Code::kFailedPrecondition, std::move(message), {}}; }

bool Contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// "v1beta2, v1beta1": the newest first.
std::string Contracts(std::vector<std::string> contracts) {
  std::sort(contracts.rbegin(), contracts.rend());
  return Join(contracts, ", ");
}

// nullopt where somebody can't follow to this contract.
std::optional<UpgradePlan> PlanTo(std::span<const UpgradeCandidate> candidates, const std::string& contract,
                                  const std::string& of_core) {
  const std::vector<std::string> compatible = CompatibleWith(contract);
  UpgradePlan plan{contract, {}};
  for (const UpgradeCandidate& candidate : candidates) {
    PlanItem item{candidate.provider, std::nullopt, !candidate.info};
    if (candidate.info) item.next = LatestNext(*candidate.info, compatible);
    bool stays = item.unknown && Contains(compatible, candidate.contract());
    if (!item.next && !stays && contract != of_core) return std::nullopt;
    item.unknown = item.unknown || (!item.next && candidate.partly);
    plan.items.push_back(std::move(item));
  }
  return plan;
}

// Of the version that is wanted of it, else of the installed one. Nothing where nobody knows.
Result<std::string> TargetContract(const UpgradeCandidate& candidate, const WantedVersion* wanted) {
  if (wanted == nullptr) return candidate.contract();
  if (!candidate.info) return *candidate.error;
  auto contract = candidate.info->metadata.ContractOf(wanted->version);
  if (contract) return *contract;
  return Refused(fmt::format("invalid target version: version {} for the provider {} does not match any release series",
                             wanted->version.ToString(), InstanceName(candidate.provider)));
}

Status CheckTarget(const UpgradeCandidate& candidate, bool moves, const std::string& contract,
                   const std::vector<std::string>& accepted) {
  if (Contains(accepted, contract)) return Ok();
  std::string name = InstanceName(candidate.provider);
  if (moves) {
    return Refused(
        fmt::format("unable to perform upgrade: the target version for the provider {} implements the {} contract "
                    "version, while the core provider supports {} contract versions",
                    name, contract, Contracts(accepted)));
  }
  return Refused(
      fmt::format("unable to perform upgrade: the provider {} implements the {} contract version, while the core "
                  "provider is getting updated to a version that supports {} contract versions. Please include the "
                  "{} provider in the upgrade",
                  name, contract, Contracts(accepted), name));
}

const WantedVersion* Find(std::span<const WantedVersion> wanted, size_t candidate) {
  for (const WantedVersion& one : wanted) {
    if (one.candidate == candidate) return &one;
  }
  return nullptr;
}

}  // namespace

std::string UpgradeCandidate::contract() const {
  if (!running_contract.empty()) return running_contract;
  return info ? info->contract : "";
}

Result<size_t> TheCore(std::span<const UpgradeCandidate> candidates) {
  size_t found = 0, at = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].provider.type != api::ProviderType::kCore) continue;
    ++found;
    at = i;
  }
  if (found == 1) return at;
  return Refused(fmt::format("invalid management cluster: there must be one core provider, found {}", found));
}

Result<std::vector<UpgradePlan>> MakePlans(std::span<const UpgradeCandidate> candidates) {
  const UpgradeCandidate& core = candidates[TRY(TheCore(candidates))];
  if (!core.info) return *core.error;
  std::vector<UpgradePlan> plans;
  for (const std::string& contract : ContractsForUpgrade(*core.info)) {
    if (auto plan = PlanTo(candidates, contract, core.info->contract)) plans.push_back(*std::move(plan));
  }
  return plans;
}

Result<std::string> CheckUpgrade(std::span<const UpgradeCandidate> candidates, std::span<const WantedVersion> wanted) {
  size_t core = TRY(TheCore(candidates));
  std::string target = TRY(TargetContract(candidates[core], Find(wanted, core)));
  if (!api::KnownContract(target)) {
    return Refused(
        fmt::format("current version of clusterctl could only upgrade the core provider to {} contract version, "
                    "requested {}",
                    kContract, target));
  }
  const std::vector<std::string> accepted = api::AcceptedBy(target);
  const std::string of_core = candidates[core].contract();
  // First what was asked for: a wrong version of that is the cause, and not those that stay.
  for (bool moves : {true, false}) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      const WantedVersion* version = Find(wanted, i);
      if ((version != nullptr) != moves || i == core) continue;
      std::string contract = TRY(TargetContract(candidates[i], version));
      if (contract.empty()) contract = of_core;  // C6: what runs though nobody knows its contract
      // C6: a rule that was broken before blocks nobody else.
      bool broken = !moves && !Contains(CompatibleWith(of_core), contract);
      if (!broken) TRY(CheckTarget(candidates[i], moves, contract, accepted));
    }
  }
  return target;
}

Status CheckSingleInstances(std::span<const InstalledProvider> providers) {
  std::map<std::pair<api::ProviderType, std::string>, std::vector<std::string>> instances;
  for (const InstalledProvider& one : providers) instances[{one.type, one.name}].push_back(InstanceName(one));
  std::vector<std::string> found;
  for (const auto& [key, names] : instances) {
    if (names.size() < 2) continue;
    found.push_back(fmt::format("multiple instance of provider type {} found: [{}]",
                                api::GoQuote(api::ManifestLabel(key.first, key.second)), Join(names, " ")));
  }
  if (found.empty()) return Ok();
  std::string all = found.size() == 1 ? found[0] : fmt::format("[{}]", Join(found, ", "));
  return Refused(
      fmt::format("detected multiple instances of the same provider, but clusterctl does not support this use case. "
                  "See https://cluster-api.sigs.k8s.io/developer/core/support-multiple-instances for more details: {}",
                  all));
}

}  // namespace capi::cli
