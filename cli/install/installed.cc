#include "cli/install/installed.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/version.h"
#include "cli/install/provider_manifests.h"

namespace capi::cli {
namespace {

bool Same(const InstalledProvider& a, const InstalledProvider& b) {
  return a.type == b.type && a.name == b.name && a.ns == b.ns;
}

PresentProvider OfObject(const ProviderObject& object) {
  const api::Provider& provider = object.provider;
  PresentProvider out;
  std::string version = object.wanted.empty() ? provider.status.installed_version : object.wanted;
  out.provider = {provider.id.type, provider.id.name, provider.id.ns, version};
  out.has_object = true;
  out.held = IsHeld(provider);
  out.deleting = provider.deleting;
  out.contract = provider.status.contract;
  if (!api::SameVersion(object.declared, object.wanted)) out.led_from = object.declared;
  out.secret = provider.spec.config_secret;
  if (out.secret && out.secret->ns.empty()) out.secret->ns = provider.id.ns;
  return out;
}

}  // namespace

bool PresentProvider::installed() const { return !recorded.empty() && api::SameVersion(provider.version, recorded); }

std::vector<PresentProvider> MergePresent(const std::vector<InstalledProvider>& inventory,
                                          const std::vector<ProviderObject>& objects) {
  std::vector<PresentProvider> out;
  for (const ProviderObject& object : objects) out.push_back(OfObject(object));
  for (const InstalledProvider& entry : inventory) {
    auto known = std::find_if(out.begin(), out.end(), [&](const auto& one) { return Same(one.provider, entry); });
    if (known == out.end()) {
      out.push_back({.provider = entry, .recorded = entry.version});
      continue;
    }
    if (known->provider.version.empty()) known->provider.version = entry.version;
    known->recorded = entry.version;
  }
  return out;
}

std::string OtherManagerOf(const kube::Object& object) {
  const Json* entries = Find(object.json(), {"metadata", "managedFields"});
  for (const Json& entry : entries == nullptr ? Json::array() : *entries) {
    std::string manager = GetString(entry, {"manager"});
    if (manager == kProviderFieldManager || manager == api::kFieldManager) continue;
    if (Find(entry, {"fieldsV1", "f:spec"}) != nullptr) return manager;
  }
  return "";
}

void PassOverPaused(const std::vector<PresentProvider>& present, std::vector<api::ProviderId>& ids, Notes& notes) {
  for (const PresentProvider& one : present) {
    const InstalledProvider& it = one.provider;
    const bool paused = one.held && !one.deleting;
    if (!paused || std::erase(ids, api::ProviderId{it.type, it.ns, it.name}) == 0) continue;
    notes.Warn(
        fmt::format("{} in namespace {} is paused: it isn't waited for", api::ManifestLabel(it.type, it.name), it.ns));
  }
}

Result<std::vector<PresentProvider>> ReadPresent(const Context& ctx, ManagementCluster& cluster) {
  auto inventory = TRY(cluster.Providers(ctx));
  auto objects = AllProviders(ctx, cluster, "");
  bool none = !objects.ok() && objects.code() == Code::kFailedPrecondition;  // the cluster has none of their kinds
  if (!objects.ok() && !none) return objects.error();
  return MergePresent(inventory, none ? std::vector<ProviderObject>() : *objects);
}

}  // namespace capi::cli
