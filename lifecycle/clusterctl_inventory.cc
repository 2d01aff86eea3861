#include "lifecycle/clusterctl_inventory.h"

#include "kube/meta/managers.h"

namespace capi::lifecycle {
namespace {

constexpr std::string_view kVersion = "v1alpha3";
constexpr std::string_view kLabelCore = "clusterctl.cluster.x-k8s.io/core";

Json Column(std::string_view name, std::string_view path, std::string_view type) {
  return {{"name", name}, {"jsonPath", path}, {"type", type}};
}

kube::Object EntryCrd() {
  Json text = {{"type", "string"}};
  Json fields = {{"apiVersion", text}, {"kind", text},    {"metadata", {{"type", "object"}}}, {"providerName", text},
                 {"type", text},       {"version", text}, {"watchedNamespace", text}};
  Json version = {{"name", kVersion}, {"served", true}, {"storage", true}, {"subresources", Json::object()}};
  version["additionalPrinterColumns"] = {
      Column("Age", ".metadata.creationTimestamp", "date"), Column("Type", ".type", "string"),
      Column("Provider", ".providerName", "string"), Column("Version", ".version", "string")};
  version["schema"]["openAPIV3Schema"] = {{"type", "object"}, {"properties", fields}};
  Json crd = {{"apiVersion", "apiextensions.k8s.io/v1"}, {"kind", "CustomResourceDefinition"}};
  crd["metadata"] = {{"name", "providers.clusterctl.cluster.x-k8s.io"}, {"labels", {{kLabelCore, "inventory"}}}};
  crd["spec"] = {{"group", kEntryGroup}, {"scope", "Namespaced"}, {"versions", Json::array({version})}};
  crd["spec"]["names"] = {{"kind", kEntryKind},
                          {"listKind", "ProviderList"},
                          {"plural", "providers"},
                          {"singular", "provider"},
                          {"categories", {"cluster-api"}}};
  return kube::Object(std::move(crd));
}

}  // namespace

const kube::Resource& ClusterctlProviders() {
  static const kube::Resource resource{.group = std::string(kEntryGroup),
                                       .version = std::string(kVersion),
                                       .plural = "providers",
                                       .kind = std::string(kEntryKind)};
  return resource;
}

kube::ObjectId EntryId(const api::ProviderId& id) {
  return {std::string(kEntryGroup), std::string(kEntryKind), id.ns, api::ManifestLabel(id.type, id.name)};
}

kube::Manifest EntryManifest(const api::ProviderId& id, const std::string& version) {
  std::string label = api::ManifestLabel(id.type, id.name);
  Json entry = {{"apiVersion", ClusterctlProviders().api_version()}, {"kind", kEntryKind}};
  entry["metadata"] = {{"name", label},
                       {"namespace", id.ns},
                       {"labels",
                        {{std::string(api::kLabelClusterctl), ""},
                         {std::string(api::kLabelProvider), label},
                         {std::string(kLabelCore), "inventory"}}}};
  entry["providerName"] = id.name;
  entry["type"] = api::KindOf(id.type).kind;
  entry["version"] = version;
  return kube::ToManifest(kube::Object(std::move(entry)));
}

std::optional<ClusterctlEntry> ParseEntry(const kube::Object& object) {
  const api::ProviderKind* kind = api::KindByName(GetString(object.json(), {"type"}));
  ClusterctlEntry entry;
  entry.id = {kind == nullptr ? api::ProviderType::kCore : kind->type, object.ns(),
              GetString(object.json(), {"providerName"})};
  entry.version = GetString(object.json(), {"version"});
  if (kind == nullptr || entry.id.name.empty()) return std::nullopt;
  entry.ours = kube::HasManager(object, api::kFieldManager, "Apply");
  return entry;
}

Result<std::vector<ClusterctlEntry>> ListEntries(const Context& ctx, kube::Client& client) {
  auto objects = client.List(ctx, ClusterctlProviders(), "");
  std::vector<ClusterctlEntry> entries;
  if (!objects.ok() && objects.code() == Code::kNotFound) return entries;
  if (!objects.ok()) return objects.error().With("clusterctl's inventory");
  for (const auto& object : objects->items) {
    if (auto entry = ParseEntry(object)) entries.push_back(std::move(*entry));
  }
  return entries;
}

Status EnsureEntryCrd(const Context& ctx, kube::Client& client, std::string_view field_manager) {
  const kube::Resource &resource = ClusterctlProviders(), &crds = kube::Builtin("CustomResourceDefinition");
  const kube::Object crd = EntryCrd();
  // No watch tells that it was deleted, and what discovery once said of it stays.
  auto live = client.Get(ctx, crds, "", crd.name(), {.metadata_only = true});
  if (live.ok() || live.code() != Code::kNotFound) return live.ok() ? Ok() : Status(live.error());
  auto created = client.Create(ctx, crds, crd, {.field_manager = std::string(field_manager)});
  if (!created.ok() && created.code() != Code::kAlreadyExists) {
    return created.error().With("creating the CRD of clusterctl's inventory");
  }
  client.mapper().Learn({resource.group, resource.kind}, {resource});
  return Ok();
}

}  // namespace capi::lifecycle
