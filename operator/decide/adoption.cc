#include "operator/decide/adoption.h"

#include <fmt/core.h>

#include "api/reasons.h"
#include "base/strings.h"

namespace capi::ops {
namespace {

namespace condition = api::condition;
namespace reason = api::reason;

constexpr size_t kPathsEach = 5;
constexpr size_t kObjects = 10;

std::string Describe(const kube::Difference& difference) {
  std::string id = difference.id.ToString();
  return difference.missing ? id + " (doesn't exist)"
                            : fmt::format("{} ({})", id, JoinNames(difference.paths, kPathsEach));
}

}  // namespace

bool NeverInstalled(const api::Provider& provider) {
  const auto& status = provider.status;
  return status.inventory.is_null() && status.installed_version.empty() && status.applied.empty() &&
         status.history.empty();
}

std::optional<FormerInstall> LeftByPeer(const api::Provider& provider) {
  const auto& status = provider.status;
  bool marked = provider.annotations.contains(std::string(api::kAnnotationAppliedSpecHash));
  // It keeps no inventory, source or history; we always do.
  bool its_status = !status.installed_version.empty() && status.inventory.is_null() && status.source.empty() &&
                    status.applied.empty() && status.history.empty();
  if (!marked && !its_status) return std::nullopt;
  std::string version = status.installed_version.empty() ? provider.spec.version : status.installed_version;
  if (version.empty()) return std::nullopt;
  return FormerInstall{std::string(kPeer), provider.id.ns, version};
}

std::string InstalledByUs(const api::ProviderId& id, std::span<const ClusterctlEntry> entries) {
  for (const ClusterctlEntry& entry : entries) {
    if (entry.ours && entry.id == id) return entry.version;
  }
  return "";
}

std::optional<FormerInstall> InstalledByClusterctl(const api::ProviderId& id,
                                                   std::span<const ClusterctlEntry> entries) {
  const ClusterctlEntry* found = nullptr;
  for (const ClusterctlEntry& entry : entries) {
    if (entry.ours || entry.version.empty() || entry.id.type != id.type || entry.id.name != id.name) continue;
    if (found == nullptr || entry.id.ns == id.ns) found = &entry;
  }
  if (found == nullptr) return std::nullopt;
  return FormerInstall{std::string(kClusterctl), found->id.ns, found->version};
}

std::optional<Hold> InstalledElsewhere(const Observation& o) {
  if (!o.former || o.former->ns == o.provider.id.ns) return std::nullopt;
  return Hold{std::string(condition::kPreflightCheckPassed), std::string(reason::kMoreThanOneExists),
              fmt::format("{} installed {} {} in namespace {}: create the {} there to have it taken over, or remove it "
                          "from there",
                          o.former->tool, o.provider.id.name, o.former->version, o.former->ns,
                          api::KindOf(o.provider.id.type).kind),
              Retry::kAt, std::chrono::minutes(5)};
}

Hold DifferencesHold(const FormerInstall& former, const std::vector<kube::Difference>& differences) {
  std::vector<std::string> parts;
  for (const auto& difference : differences) parts.push_back(Describe(difference));
  return Hold{
      std::string(condition::kProviderInstalled), std::string(reason::kAdopting),
      fmt::format("taking over what {} installed ({}) would change what runs, so nothing is changed: {}; declare "
                  "what is live (spec.manager, spec.deployment, spec.patches, the variables), or make it what "
                  "the release has, or set annotation {}: \"true\" to have these overwritten",
                  former.tool, former.version, JoinNames(parts, kObjects), api::kAnnotationOverwriteDifferences),
      Retry::kAt, std::chrono::minutes(5)};
}

bool MayOverwrite(const api::Provider& provider) {
  auto it = provider.annotations.find(std::string(api::kAnnotationOverwriteDifferences));
  return it != provider.annotations.end() && it->second == "true";
}

}  // namespace capi::ops
