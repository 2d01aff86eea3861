#include "cli/move/node.h"

#include <fmt/format.h>

#include <set>

#include "api/text.h"
#include "kube/meta/object_conditions.h"

namespace capi::cli::move {
namespace {

std::string Named(const kube::Object& object) {
  auto [group, version] = object.group_version();
  return fmt::format("{} {}/{}", api::GoQuote(fmt::format("{}/{}, Kind={}", group, version, object.kind())),
                     object.ns(), object.name());
}

std::string WhyClusterIsNotReady(const kube::Object& cluster) {
  if (!GetBool(cluster.json(), {"status", "initialization", "infrastructureProvisioned"}))
    return fmt::format("{} is still provisioning the infrastructure", Named(cluster));
  bool has_control_plane = !GetString(cluster.json(), {"spec", "controlPlaneRef", "name"}).empty();
  bool initialized =
      kube::IsTrue(kube::Conditions(cluster), "ControlPlaneInitialized") &&
      (!has_control_plane || GetBool(cluster.json(), {"status", "initialization", "controlPlaneInitialized"}));
  return initialized ? "" : fmt::format("the control plane for {} is not yet initialized", Named(cluster));
}

// A controller that works on a Machine gives it a phase, and that before a providerID: with a providerID alone it is
// the copy of one that was ready, below a Cluster that is paused, or was until now.
std::string WhyMachineIsNotReady(const kube::Object& machine) {
  if (!GetString(machine.json(), {"status", "nodeRef", "name"}).empty()) return "";
  if (!GetString(machine.json(), {"spec", "providerID"}).empty() &&
      Find(machine.json(), {"status", "phase"}) == nullptr)
    return "";
  return fmt::format("{} is still provisioning the node", Named(machine));
}

std::vector<Owner> OwnersOf(const kube::Object& object) {
  std::vector<Owner> out;
  const Json* references = Find(object.json(), {"metadata", "ownerReferences"});
  if (references == nullptr || !references->is_array()) return out;
  for (const Json& reference : *references)
    out.push_back({GetString(reference, {"kind"}), GetString(reference, {"name"}), GetString(reference, {"uid"})});
  return out;
}

void AddFactsOfRole(const kube::Object& object, Node& node) {
  switch (node.role) {
    case Role::kCluster:
      node.cluster_class = ClassOf(object);
      node.not_ready = WhyClusterIsNotReady(object);
      [[fallthrough]];
    case Role::kClusterClass:
      node.paused = IsPaused(object);
      node.record = RecordOf(object);
      break;
    case Role::kMachine: node.not_ready = WhyMachineIsNotReady(object); [[fallthrough]];
    case Role::kResourceSetBinding: node.cluster = GetString(object.json(), {"spec", "clusterName"}); break;
    case Role::kSecret:
    case Role::kOther: break;
  }
}

}  // namespace

Role RoleOf(const kube::GroupKind& kind) {
  if (kind.group.empty() && kind.kind == "Secret") return Role::kSecret;
  if (kind.group == kAddonsGroup && kind.kind == "ClusterResourceSetBinding") return Role::kResourceSetBinding;
  if (kind.group != kCoreGroup) return Role::kOther;
  if (kind.kind == "Cluster") return Role::kCluster;
  if (kind.kind == "ClusterClass") return Role::kClusterClass;
  return kind.kind == "Machine" ? Role::kMachine : Role::kOther;
}

Node NodeOf(const kube::Object& object, size_t index, const MovedKind& kind) {
  Node node;
  node.kind = index;
  node.role = RoleOf({kind.resource.group, kind.resource.kind});
  node.ns = object.ns();
  node.name = object.name();
  node.uid = object.uid();
  node.version = object.resource_version();
  node.owners = OwnersOf(object);
  node.hierarchy = kind.hierarchy || object.has_label(kHierarchyLabel);
  node.moves = node.hierarchy || kind.moves || object.has_label(kMoveLabel);
  node.blocks_move = object.has_annotation(kBlockMoveAnnotation);
  node.deleting = object.deleting();
  node.leaving = object.has_annotation(kDeleteForMoveAnnotation);
  AddFactsOfRole(object, node);
  return node;
}

NamespacedName ClassOf(const kube::Object& cluster) {
  NamespacedName out{GetString(cluster.json(), {"spec", "topology", "classRef", "namespace"}),
                     GetString(cluster.json(), {"spec", "topology", "classRef", "name"})};
  if (out.ns.empty()) out.ns = cluster.ns();
  return out;
}

std::vector<TemplateReference> TemplatesOf(const kube::Object& cluster_class) {
  std::set<TemplateReference> found;
  auto add = [&](const Json* part) {
    if (part == nullptr) return;
    TemplateReference reference{GetString(*part, {"templateRef", "apiVersion"}),
                                GetString(*part, {"templateRef", "kind"}), GetString(*part, {"templateRef", "name"})};
    if (!reference.name.empty()) found.insert(std::move(reference));
  };
  const Json& json = cluster_class.json();
  add(Find(json, {"spec", "infrastructure"}));
  add(Find(json, {"spec", "controlPlane"}));
  add(Find(json, {"spec", "controlPlane", "machineInfrastructure"}));
  for (std::string_view list : {"machineDeployments", "machinePools"}) {
    const Json* workers = Find(json, {"spec", "workers", list});
    if (workers == nullptr || !workers->is_array()) continue;
    for (const Json& worker : *workers) {
      add(Find(worker, {"infrastructure"}));
      add(Find(worker, {"bootstrap"}));
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace capi::cli::move
