#include "lifecycle/in_use.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/meta/object_conditions.h"
#include "lifecycle/plan/crd_state.h"

namespace capi::lifecycle {
namespace {

constexpr std::string_view kLabelCluster = "cluster.x-k8s.io/cluster-name";
constexpr std::string_view kCore = "cluster.x-k8s.io";
// Of the core's kinds, those that exist for one Cluster alone.
constexpr std::string_view kOfOneCluster[] = {"Cluster", "Machine", "MachineSet", "MachineDeployment", "MachinePool"};
constexpr int kLongestChain = 10;

bool IsOfOneCluster(const std::string& group, const std::string& kind) {
  return group == kCore &&
         std::find(std::begin(kOfOneCluster), std::end(kOfOneCluster), kind) != std::end(kOfOneCluster);
}

bool Belongs(const kube::Object& object, const ByUid& known, int depth) {
  if (object.has_label(kLabelCluster)) return true;
  if (IsOfOneCluster(object.group_version().group, object.kind())) return true;
  const Json* owners = Find(object.json(), {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array() || depth == 0) return false;
  return std::any_of(owners->begin(), owners->end(), [&](const Json& owner) {
    std::string group = kube::GroupVersion::Parse(GetString(owner, {"apiVersion"})).group;
    if (IsOfOneCluster(group, GetString(owner, {"kind"}))) return true;
    auto it = known.find(GetString(owner, {"uid"}));
    return it != known.end() && Belongs(*it->second, known, depth - 1);
  });
}

// Of a CRD that no version answered for. It is served from when it is Established until it is gone, though not by every
// API server at once: each hears of it by itself. Before and after that there are no objects of it.
Result<ReadObjects> NoneWhereItIsNotServed(kube::Client& client, const Context& ctx, const std::string& crd) {
  auto live = client.Get(ctx, kube::Builtin("CustomResourceDefinition"), "", crd);
  if (!live.ok() && live.code() == Code::kNotFound) return ReadObjects{};
  if (!live.ok()) return live.error().With(crd);
  const auto conditions = kube::Conditions(*live);
  const auto* established = kube::FindCondition(conditions, "Established");
  if (established != nullptr && established->status == "False") return ReadObjects{};
  return Error{
      Code::kUnavailable,
      fmt::format("{}: an API server doesn't serve any of its versions yet, so whether it has objects can't be told",
                  crd),
      {}};
}

}  // namespace

bool BelongsToCluster(const kube::Object& object, const ByUid& known) { return Belongs(object, known, kLongestChain); }

Result<std::vector<kube::Resource>> ReadableResources(const kube::Object& crd) {
  const CrdState state = StateOf(crd);
  std::vector<kube::Resource> out;
  for (const std::string& version : state.served) {
    const bool storage = version == state.storage;
    if (!storage && std::find(state.stored.begin(), state.stored.end(), version) == state.stored.end()) continue;
    kube::Resource resource;
    resource.group = state.group;
    resource.version = version;
    resource.plural = state.plural;
    resource.kind = state.kind;
    resource.namespaced = state.namespaced;
    out.insert(storage ? out.begin() : out.end(), std::move(resource));
  }
  if (!out.empty()) return out;
  return Error{Code::kUnavailable, crd.name() + ": no version that objects are stored at is served", {}};
}

// While nobody converts, the storage version can't be read as long as an object is stored at an older one: between a
// paused upgrade that switched it and the migration. All of them being stored at the older one, that one can. A 404
// says that this path isn't served, never that there are no objects.
Result<ReadObjects> ListReadable(kube::Client& client, const Context& ctx, const kube::Object& crd,
                                 kube::ListOptions options, const std::string& ns) {
  options.metadata_only = true;
  std::optional<Error> error;
  for (kube::Resource& resource : TRY(ReadableResources(crd))) {
    auto listed = client.List(ctx, resource, resource.namespaced ? ns : "", options);
    if (listed.ok()) return ReadObjects{std::move(resource), std::move(listed->items)};
    TRY(ctx.Check());
    if (listed.code() != Code::kNotFound && !error) {
      error = listed.error().With(fmt::format("{} at {}", crd.name(), resource.version));
    }
  }
  if (error) return *error;
  return NoneWhereItIsNotServed(client, ctx, crd.name());
}

std::string NameOf(const kube::Object& object) {
  return object.ns().empty() ? fmt::format("{} {}", object.kind(), object.name())
                             : fmt::format("{} {}/{}", object.kind(), object.ns(), object.name());
}

Result<std::vector<std::string>> ClusterUsers(kube::Client& client, const Context& ctx,
                                              const std::vector<kube::Object>& crds) {
  std::vector<kube::Object> objects;
  for (const kube::Object& crd : crds) {
    ReadObjects read = TRY(ListReadable(client, ctx, crd));
    for (kube::Object& object : read.items) {
      SlimToOwners(object);
      objects.push_back(std::move(object));
    }
  }
  ByUid known;
  for (const kube::Object& object : objects) known[object.uid()] = &object;
  std::vector<std::string> out;
  for (const kube::Object& object : objects) {
    if (BelongsToCluster(object, known)) out.push_back(NameOf(object));
  }
  return out;
}

void SlimToOwners(kube::Object& object) {
  kube::Object slim = kube::IdentityOf(object);
  if (object.has_label(kLabelCluster)) slim.set_label(kLabelCluster, object.label(kLabelCluster));
  if (const Json* owners = Find(object.json(), {"metadata", "ownerReferences"})) {
    slim.json()["metadata"]["ownerReferences"] = *owners;
  }
  object = std::move(slim);
}

}  // namespace capi::lifecycle
