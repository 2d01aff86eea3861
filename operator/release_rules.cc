#include <fmt/core.h>

#include <set>

#include "api/reasons.h"
#include "base/strings.h"
#include "operator/rules.h"

namespace capi::ops {
namespace {

namespace condition = api::condition;
namespace reason = api::reason;

}  // namespace

std::optional<Hold> CheckMetadata(const Observation& o, const api::Version& version, const api::Metadata& metadata) {
  auto incompatible = [](std::string message) {
    return Hold{std::string(condition::kProviderInstalled), std::string(reason::kCAPIVersionIncompatibility),
                std::move(message), Retry::kOnChange};
  };
  auto contract = metadata.ContractOf(version);
  if (!contract) {
    std::vector<std::string> series;
    for (const auto& s : metadata.series) series.push_back(fmt::format("{}.{}", s.major, s.minor));
    return incompatible(
        fmt::format("invalid provider metadata: version {} for the provider {} does not match any release "
                    "series; its metadata.yaml lists {}",
                    version.ToString(), o.provider.id.name, JoinNames(series, 20)));
  }
  if (!api::KnownContract(*contract)) {
    return incompatible(
        fmt::format("{} {} has contract {}, which this operator doesn't know (it knows {}): upgrade the "
                    "operator or choose another version",
                    o.provider.id.ToString(), version.ToString(), *contract, JoinNames(api::KnownContracts(), 9)));
  }
  return std::nullopt;
}

std::optional<Hold> CheckDigest(const std::string& wanted, const std::string& source, const std::string& digest) {
  if (wanted.empty() || wanted == digest) return std::nullopt;
  return Hold{
      std::string(condition::kProviderInstalled), std::string(reason::kVerificationFailed),
      fmt::format("the components of {} have digest {}, spec.fetchConfig.digest asks for {}: nothing is applied",
                  source, digest, wanted)};
}

std::optional<Hold> CheckOwners(const Observation& o, const std::vector<kube::ObjectId>& objects) {
  std::set<kube::ObjectId> ours(objects.begin(), objects.end());
  for (const auto& sibling : o.siblings) {
    auto inventory = kube::Inventory::Parse(sibling->status.inventory);
    if (!inventory.ok()) continue;
    std::vector<std::string> taken;
    for (const auto& [id, entry] : inventory->entries()) {
      if (ours.contains(id)) taken.push_back(id.ToString());
    }
    if (taken.empty()) continue;
    return Hold{
        std::string(condition::kProviderInstalled), std::string(reason::kObjectOwnedByAnotherProvider),
        fmt::format("{} belongs to {} (namespace {}), which installed {}: two providers can't own one object; "
                    "delete one provider, or put this one into a namespace of its own if the object is namespaced",
                    JoinNames(taken, 3), sibling->id.ToString(), sibling->id.ns, taken.size() == 1 ? "it" : "them"),
        Retry::kWaiting};
  }
  return std::nullopt;
}

}  // namespace capi::ops
