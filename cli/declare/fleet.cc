#include "cli/declare/fleet.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "kube/meta/managers.h"

namespace capi::cli {
namespace {

const kube::Resource& Entries() {
  static const kube::Resource resource = {
      .group = "clusterctl.cluster.x-k8s.io", .version = "v1alpha3", .plural = "providers", .kind = "Provider"};
  return resource;
}

Result<std::vector<InventoryEntry>> ReadEntries(const Context& ctx, kube::Client& client) {
  std::vector<InventoryEntry> out;
  auto list = client.List(ctx, Entries(), "");
  if (!list.ok() && list.code() == Code::kNotFound) return out;
  if (!list.ok()) return list.error().With("failed to list providers.clusterctl.cluster.x-k8s.io");
  for (const kube::Object& entry : list->items) {
    const auto* kind = api::KindByName(GetString(entry.json(), {"type"}));
    if (kind == nullptr) continue;  // of a type that came after this program
    out.push_back({{kind->type, entry.ns(), GetString(entry.json(), {"providerName"})},
                   GetString(entry.json(), {"version"}),
                   // docs/formats.md, "clusterctl's inventory"
                   kube::HasManager(entry, api::kFieldManager, "Apply")});
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return out;
}

}  // namespace

const kube::Object* Fleet::ObjectOf(const api::ProviderId& id) const {
  const kube::Object* found = nullptr;
  for (const kube::Object& object : objects) {
    const api::ProviderId other = IdOf(object);
    if (other == id) return &object;
    if (other.type == id.type && other.name == id.name && found == nullptr) found = &object;
  }
  return found;
}

Result<Fleet> ReadFleet(const Context& ctx, ManagementCluster& cluster) {
  Fleet fleet;
  fleet.entries = TRY(ReadEntries(ctx, cluster.client()));
  for (const api::ProviderKind& kind : api::kProviderKinds) {
    auto list = cluster.client().List(ctx, api::ResourceOf(kind.type), "");
    if (!list.ok() && list.code() == Code::kNotFound) continue;
    if (!list.ok()) return list.error().With(fmt::format("failed to list {}.{}", kind.plural, api::kGroup));
    fleet.has_kinds = true;
    for (kube::Object& object : list->items) {
      object.json()["kind"] = kind.kind;
      object.json()["apiVersion"] = fmt::format("{}/{}", api::kGroup, api::kVersion);
      fleet.objects.push_back(std::move(object));
    }
  }
  std::sort(fleet.objects.begin(), fleet.objects.end(), [](const auto& a, const auto& b) { return IdOf(a) < IdOf(b); });
  return fleet;
}

api::ProviderId IdOf(const kube::Object& provider) {
  const api::ProviderKind* kind = api::KindByName(provider.kind());
  return {kind == nullptr ? api::ProviderType::kCore : kind->type, provider.ns(), provider.name()};
}

}  // namespace capi::cli
