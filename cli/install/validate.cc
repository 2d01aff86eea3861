#include "cli/install/validate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace capi::cli {
namespace {

Error Refused(std::string message) { return {Code::kFailedPrecondition, std::move(message), {}}; }

bool SameProvider(const InstalledProvider& a, const InstalledProvider& b) {
  return a.type == b.type && a.name == b.name;
}

std::string LabelOf(const InstalledProvider& provider) { return api::ManifestLabel(provider.type, provider.name); }

// Adds the queue to what is there.
Status Simulate(std::vector<InstalledProvider>& all, const std::vector<InstalledProvider>& queue) {
  for (const InstalledProvider& one : queue) {
    auto same = std::find_if(all.begin(), all.end(), [&](const auto& other) { return SameProvider(one, other); });
    if (same != all.end()) {
      return Refused(
          fmt::format("installing provider \"{0}\" can lead to a non functioning management cluster: there is "
                      "already an instance of the \"{0}\" provider installed in the \"{1}\" namespace",
                      LabelOf(one), same->ns));
    }
    all.push_back(one);
  }
  return Ok();
}

// The contract, which has to be one that clusterctl works with.
Result<std::string> SupportedContract(const InstalledProvider& provider, const ContractOf& contract_of) {
  std::string contract = TRY(contract_of(provider));
  if (api::Accepts(kContract, contract)) return contract;
  std::vector<std::string> accepted = api::AcceptedBy(kContract);
  std::reverse(accepted.begin(), accepted.end());
  return Refused(
      fmt::format("current version of clusterctl is only compatible with providers implementing the {} "
                  "contract versions, detected contract version {} for provider {}",
                  Join(accepted, ", "), contract, LabelOf(provider)));
}

}  // namespace

Result<std::string> ContractInMetadata(const InstalledProvider& provider, const api::Metadata& metadata) {
  auto version = TRY(api::Version::Parse(provider.version));
  if (auto contract = metadata.ContractOf(version)) return *contract;
  std::vector<std::string> series;
  for (const api::ReleaseSeries& one : metadata.series) series.push_back(fmt::format("{}.{}", one.major, one.minor));
  return Error{Code::kInvalidArgument,
               fmt::format("invalid provider metadata: version {} for the provider {}/{} does not match any release "
                           "series. Available series: [{}]. This usually means the release tag lacks an updated "
                           "metadata.yaml or the repository URL is stale.",
                           provider.version, provider.ns, LabelOf(provider), Join(series, ", ")),
               {}};
}

Error NoMetadata(const InstalledProvider& provider, const Error& why) {
  return why.With(
      fmt::format("failed to fetch metadata for provider \"{}\" (version {}). Check that the release tag "
                  "exists and the repository URL is correct \xE2\x80\x94 the project may have moved or the "
                  "tag may be missing metadata.yaml",
                  LabelOf(provider), provider.version));
}

Status ValidateInstall(std::vector<InstalledProvider> all, const std::vector<InstalledProvider>& queue,
                       const ContractOf& contract_of) {
  TRY(Simulate(all, queue));
  auto is_core = [](const InstalledProvider& provider) { return provider.type == api::ProviderType::kCore; };
  auto cores = std::count_if(all.begin(), all.end(), is_core);
  if (cores != 1)
    return Refused(fmt::format("invalid management cluster: there must be one core provider, found {}", cores));
  std::string core = TRY(SupportedContract(*std::find_if(all.begin(), all.end(), is_core), contract_of));
  for (const InstalledProvider& one : queue) {
    std::string contract = TRY(SupportedContract(one, contract_of));
    // The golden rule is the operator's (behaviour.md C1).
    if (api::Accepts(core, contract)) continue;
    return Refused(
        fmt::format("installing provider \"{}\" could lead to a non functioning management cluster: the "
                    "target version for the provider implements the {} contract version, while the core "
                    "provider is compatible with {} contract versions",
                    LabelOf(one), contract, Join(api::AcceptedBy(core), ",")));
  }
  return Ok();
}

}  // namespace capi::cli
