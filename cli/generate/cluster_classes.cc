#include "cli/generate/cluster_classes.h"

#include <fmt/format.h>

#include <set>

#include "cli/frame/provider_release.h"

namespace capi::cli {
namespace {

constexpr std::string_view kGroup = "cluster.x-k8s.io";

struct ClassName {
  std::string ns, name;
  auto operator<=>(const ClassName&) const = default;
};

// As v1beta2 names it (classRef), or v1beta1 (class, classNamespace); an empty name where there is none.
ClassName ClassOf(const kube::Object& cluster, const std::string& ns) {
  auto first = [](std::string a, std::string b) { return a.empty() ? b : a; };
  const Json& json = cluster.json();
  std::string name =
      first(GetString(json, {"spec", "topology", "classRef", "name"}), GetString(json, {"spec", "topology", "class"}));
  std::string where = first(GetString(json, {"spec", "topology", "classRef", "namespace"}),
                            GetString(json, {"spec", "topology", "classNamespace"}));
  return {first(where, ns), name};
}

std::vector<ClassName> ClassesIn(const std::vector<kube::Object>& objects, const std::string& ns) {
  std::vector<ClassName> out;
  std::set<ClassName> seen;
  for (const kube::Object& object : objects) {
    if (object.kind() != "Cluster" || object.group_version().group != kGroup) continue;
    ClassName found = ClassOf(object, ns);
    if (found.name.empty() || found.name.find(kUnknownValue) != std::string::npos) continue;
    if (seen.insert(found).second) out.push_back(found);
  }
  return out;
}

// Where the cluster has no such kind, or can't be reached for want of a kubeconfig, no object of it is there.
Result<bool> IsThere(const Context& ctx, MaybeCluster& cluster, const kube::GroupKind& kind, const std::string& ns,
                     const std::string& name) {
  auto opened = cluster.Get();
  if (!opened.ok()) return false;
  kube::Client& client = (*opened)->client();
  auto resource = client.mapper().For(ctx, kind);
  if (!resource.ok() && resource.code() == Code::kNotFound) return false;
  if (!resource.ok()) return resource.error();
  auto found = client.Get(ctx, *resource, resource->namespaced ? ns : "", name, {.metadata_only = true});
  if (!found.ok() && found.code() == Code::kNotFound) return false;
  if (!found.ok()) return found.error();
  return true;
}

}  // namespace

Result<std::vector<ClassText>> MissingClasses(const Context& ctx, const Config& config, const ProviderVersion& release,
                                              const std::vector<kube::Object>& objects, const std::string& ns,
                                              MaybeCluster& cluster, Notes& notes) {
  std::vector<ClassText> out;
  for (const ClassName& one : ClassesIn(objects, ns)) {
    if (TRY(IsThere(ctx, cluster, {std::string(kGroup), "ClusterClass"}, one.ns, one.name))) continue;
    if (one.ns != ns && cluster.none())
      return Error{
          Code::kFailedPrecondition,
          fmt::format("the template's Cluster has the ClusterClass {}/{}, and a release can bring one only into "
                      "the Cluster's own namespace, {}: name {} with -n",
                      one.ns, one.name, ns, one.ns),
          {}};
    if (one.ns != ns) {
      return Error{Code::kFailedPrecondition,
                   fmt::format("ClusterClass {}/{} isn't in the cluster, and the template can bring one only into the "
                               "cluster's own namespace {}",
                               one.ns, one.name, ns),
                   {}};
    }
    std::string file = fmt::format("clusterclass-{}.yaml", one.name);
    std::string text = TRY(FetchFile(ctx, config, release.source, release.version, file, notes));
    out.push_back({std::move(file), std::move(text)});
  }
  return out;
}

Status CheckAreNew(const Context& ctx, const std::vector<kube::Object>& objects, MaybeCluster& cluster) {
  for (const kube::Object& object : objects) {
    kube::ObjectId id = object.id();
    if (!TRY(IsThere(ctx, cluster, id.group_kind(), id.ns, id.name))) continue;
    kube::GroupVersion version = object.group_version();
    return Error{Code::kAlreadyExists,
                 fmt::format("{}/{}({}/{}, Kind={}) already exists in the cluster", id.ns, id.name, version.group,
                             version.version, id.kind),
                 {}};
  }
  return Ok();
}

}  // namespace capi::cli
