// To which versions a provider could be upgraded, by what its repository has. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/release.h"
#include "cli/frame/management_cluster.h"

namespace capi::cli {

// A value.
struct UpgradeInfo {
  api::Version current;
  std::string contract;            // of the current version
  api::Metadata metadata;          // of the highest version that there is
  std::vector<api::Version> next;  // newer than the current one, ascending; each is in a release series
  std::vector<api::Version> odd;   // newer, and in none: nobody can tell their contract
};

// "capa-system/infrastructure-aws".
std::string InstanceName(const InstalledProvider& provider);

// kInvalidArgument in clusterctl's words: the installed version is none, there are no versions, or the installed one is
// in no release series of `metadata`.
Result<UpgradeInfo> MakeUpgradeInfo(const InstalledProvider& provider, std::vector<api::Version> versions,
                                    api::Metadata metadata);

// Contracts that this version and those after it have, sorted.
std::vector<std::string> ContractsForUpgrade(const UpgradeInfo& info);

// The newest of `next` with one of these contracts that is no prerelease; nullopt for none.
std::optional<api::Version> LatestNext(const UpgradeInfo& info, const std::vector<std::string>& contracts);

// Contracts that a core provider of this one accepts; of an unknown contract itself alone, as clusterctl takes it.
std::vector<std::string> CompatibleWith(const std::string& contract);

}  // namespace capi::cli
