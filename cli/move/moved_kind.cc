#include "cli/move/moved_kind.h"

namespace capi::cli::move {
namespace {

// The version that is stored, else one that can be read.
std::string VersionOf(const Json& crd) {
  const Json* versions = Find(crd, {"spec", "versions"});
  std::string served;
  if (versions == nullptr || !versions->is_array()) return served;
  for (const Json& version : *versions) {
    if (!GetBool(version, {"served"})) continue;
    std::string name = GetString(version, {"name"});
    if (GetBool(version, {"storage"})) return name;
    if (served.empty()) served = name;
  }
  return served;
}

bool IsRoot(const kube::GroupKind& kind) {
  if (kind.group == kCoreGroup) return kind.kind == "Cluster" || kind.kind == "ClusterClass";
  return kind.group == kAddonsGroup && kind.kind == "ClusterResourceSet";
}

}  // namespace

std::optional<MovedKind> MovedKindOf(const kube::Object& crd) {
  MovedKind out;
  kube::Resource& resource = out.resource;
  resource.group = GetString(crd.json(), {"spec", "group"});
  resource.kind = GetString(crd.json(), {"spec", "names", "kind"});
  resource.plural = GetString(crd.json(), {"spec", "names", "plural"});
  resource.namespaced = GetString(crd.json(), {"spec", "scope"}) != "Cluster";
  resource.version = VersionOf(crd.json());
  if (resource.version.empty()) return std::nullopt;
  out.hierarchy = IsRoot({resource.group, resource.kind}) || crd.has_label(kHierarchyLabel);
  out.moves = out.hierarchy || crd.has_label(kMoveLabel);
  return out;
}

std::vector<MovedKind> BuiltinMovedKinds() {
  return {{.resource = kube::Builtin("Secret")}, {.resource = kube::Builtin("ConfigMap")}};
}

}  // namespace capi::cli::move
