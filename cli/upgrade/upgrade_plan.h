// What could be upgraded, contract by contract, and whether what a person asks for may be. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/upgrade/upgrade_info.h"

namespace capi::cli {

// An installed provider, and what could be learnt of its versions. A value.
struct UpgradeCandidate {
  InstalledProvider provider;
  std::optional<UpgradeInfo> info;    // nothing where its versions can't be told
  std::optional<Error> error = {};    // why not
  std::optional<Error> partly = {};   // why not all of them: one of its sources is out of reach
  std::string running_contract = {};  // of its provider object's status; "" where that doesn't say

  // Of what is installed; "" where nobody knows.
  std::string contract() const;
};

// A value.
struct PlanItem {
  InstalledProvider provider;
  std::optional<api::Version> next;  // nothing: it is up to date, or
  bool unknown = false;              // its versions can't be told, or not all of them
};

// A value.
struct UpgradePlan {
  std::string contract;
  std::vector<PlanItem> items;  // as the candidates are ordered
};

// One for each contract to which the core provider could go, sorted; one to another contract than the core's only where
// all providers can go there (behaviour.md L12). kFailedPrecondition without exactly one core provider, or where the
// core's versions can't be told.
Result<std::vector<UpgradePlan>> MakePlans(std::span<const UpgradeCandidate> candidates);

// A provider, and the version that somebody wants. A value.
struct WantedVersion {
  size_t candidate = 0;  // index
  api::Version version;
};

// Whether the golden rule holds once all of this is done (behaviour.md L13): the contract that the core then has.
// kFailedPrecondition in clusterctl's words.
Result<std::string> CheckUpgrade(std::span<const UpgradeCandidate> candidates, std::span<const WantedVersion> wanted);

// kFailedPrecondition where a provider is installed twice.
Status CheckSingleInstances(std::span<const InstalledProvider> providers);

// The only core provider. kFailedPrecondition.
Result<size_t> TheCore(std::span<const UpgradeCandidate> candidates);

}  // namespace capi::cli
