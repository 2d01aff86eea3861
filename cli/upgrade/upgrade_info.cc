#include "cli/upgrade/upgrade_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "api/text.h"

namespace capi::cli {
namespace {

Error Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message), {}}; }

}  // namespace

std::string InstanceName(const InstalledProvider& provider) {
  return fmt::format("{}/{}", provider.ns, api::ManifestLabel(provider.type, provider.name));
}

Result<UpgradeInfo> MakeUpgradeInfo(const InstalledProvider& provider, std::vector<api::Version> versions,
                                    api::Metadata metadata) {
  auto current = api::Version::Parse(provider.version);
  if (!current.ok()) {
    return Invalid(fmt::format("failed to parse current version for the {} provider: could not parse {} as version",
                               InstanceName(provider), api::GoQuote(provider.version)));
  }
  if (versions.empty())
    return Invalid(fmt::format("failed to get available versions for the {} provider", InstanceName(provider)));
  auto contract = metadata.ContractOf(*current);
  if (!contract) {
    return Invalid(
        fmt::format("invalid provider metadata: version {} (the current version) for the provider {} does not match "
                    "any release series",
                    current->ToString(), InstanceName(provider)));
  }
  UpgradeInfo info{*current, *contract, std::move(metadata), {}, {}};
  std::sort(versions.begin(), versions.end());
  for (api::Version& version : versions) {
    if (version <= *current) continue;
    (info.metadata.ContractOf(version) ? info.next : info.odd).push_back(std::move(version));
  }
  return info;
}

std::vector<std::string> ContractsForUpgrade(const UpgradeInfo& info) {
  std::set<std::string> contracts;
  for (const api::ReleaseSeries& series : info.metadata.series) {
    if (std::tie(series.major, series.minor) >= std::tie(info.current.major, info.current.minor))
      contracts.insert(series.contract);
  }
  return {contracts.begin(), contracts.end()};
}

std::optional<api::Version> LatestNext(const UpgradeInfo& info, const std::vector<std::string>& contracts) {
  std::optional<api::Version> latest;
  for (const api::Version& version : info.next) {
    auto contract = info.metadata.ContractOf(version);
    bool wanted = contract && std::find(contracts.begin(), contracts.end(), *contract) != contracts.end();
    if (wanted && version.prerelease.empty() && (!latest || *latest < version)) latest = version;
  }
  return latest;
}

std::vector<std::string> CompatibleWith(const std::string& contract) {
  if (!api::KnownContract(contract)) return {contract};
  return api::AcceptedBy(contract);
}

}  // namespace capi::cli
