#include "cli/describe/cluster_tree.h"

#include <algorithm>
#include <map>
#include <set>

namespace capi::cli::describe {
namespace {

constexpr char kApiGroup[] = "cluster.x-k8s.io";

using enum NodeKind;
using Owned = std::map<Reference, std::vector<const MachineObject*>>;

// By the owner that controls them.
Owned ByController(const std::vector<MachineObject>& objects) {
  Owned out;
  for (const MachineObject& one : objects) out[one.object.controller].push_back(&one);
  return out;
}

const std::vector<const MachineObject*>& OwnedBy(const Owned& owned, const MachineObject& owner) {
  static const auto& none = *new std::vector<const MachineObject*>();
  auto found = owned.find({kApiGroup, owner.object.kind, owner.object.name});
  return found == owned.end() ? none : found->second;
}

// Thread-compatible.
class Builder {
 public:
  Builder(const ClusterParts& parts, const TreeOptions& options, Externals& externals)
      : parts_(parts),
        options_(options),
        externals_(externals),
        machines_of_(ByController(parts.machines)),
        sets_of_(ByController(parts.sets)) {}

  ClusterNode Build();

 private:
  // The object at the end of `reference`, below `parent`.
  void AddExternal(ClusterNode& parent, const Reference& reference, NodeTraits traits);
  void AddMachine(ClusterNode& parent, const MachineObject& machine);
  void AddMachines(ClusterNode& parent, const MachineObject& owner);
  ClusterNode& AddVirtual(ClusterNode& parent, std::string kind, std::string name, NodeTraits traits = {kVirtual});
  void AddReference(ClusterNode& parent, const Reference& reference, std::string role);
  void AddResourceSets();
  void AddControlPlane();
  void AddDeployment(ClusterNode& workers, const MachineObject& deployment);
  void AddPool(ClusterNode& workers, const MachineObject& pool);
  void AddWorkers();

  const ClusterParts& parts_;
  const TreeOptions& options_;
  Externals& externals_;
  const Owned machines_of_, sets_of_;
  ClusterNode root_;
  std::set<std::string> placed_;  // machines, by name
};

void Builder::AddExternal(ClusterNode& parent, const Reference& reference, NodeTraits traits) {
  if (reference.empty()) return;
  const ClusterObject* object = externals_.Get(reference);
  if (object != nullptr) AddNode(parent, *object, std::move(traits), options_);
}

void Builder::AddMachine(ClusterNode& parent, const MachineObject& machine) {
  placed_.insert(machine.object.name);
  ClusterNode* node = AddNode(parent, machine.object, {.node_kind = kMachine}, options_);
  if (node == nullptr) return;
  AddExternal(*node, machine.infrastructure, {.role = "MachineInfrastructure", .no_echo = true});
  AddExternal(*node, machine.bootstrap, {.role = "BootstrapConfig", .no_echo = true});
}

void Builder::AddMachines(ClusterNode& parent, const MachineObject& owner) {
  for (const MachineObject* machine : OwnedBy(machines_of_, owner)) AddMachine(parent, *machine);
}

ClusterNode& Builder::AddVirtual(ClusterNode& parent, std::string kind, std::string name, NodeTraits traits) {
  ClusterObject object;
  object.kind = std::move(kind);
  object.name = std::move(name);
  return *AddNode(parent, std::move(object), std::move(traits), options_);
}

void Builder::AddReference(ClusterNode& parent, const Reference& reference, std::string role) {
  if (reference.empty()) return;
  ClusterObject object;
  object.api_version = reference.group;
  object.kind = reference.kind;
  object.ns = root_.object.ns;
  object.name = reference.name;
  AddNode(parent, std::move(object), {.node_kind = kReference, .role = std::move(role)}, options_);
}

void Builder::AddResourceSets() {
  if (!options_.resource_sets || !parts_.resource_sets) return;
  ClusterNode& group = AddVirtual(root_, "ClusterResourceSetGroup", "ClusterResourceSets");
  for (const std::string& name : std::set(parts_.resource_sets->begin(), parts_.resource_sets->end()))
    AddReference(group, {"addons.cluster.x-k8s.io", "ClusterResourceSet", name}, "");
}

void Builder::AddControlPlane() {
  const Reference& reference = parts_.cluster.control_plane;
  const ControlPlane* found = reference.empty() ? nullptr : externals_.GetControlPlane(reference);
  if (found == nullptr) return;
  NodeTraits traits = {.node_kind = kControlPlane, .role = "ControlPlane", .groups = true};
  ClusterNode& node = *AddNode(root_, found->object, std::move(traits), options_);
  if (options_.templates && !found->machine_template.empty()) {
    ClusterNode& templates = AddVirtual(node, "TemplateGroup", found->object.name,
                                        {.node_kind = kVirtual, .role = "Templates", .z_order = 1});
    AddReference(templates, found->machine_template, "MachineInfrastructureTemplate");
  }
  for (const MachineObject& machine : parts_.machines) {
    if (machine.of_control_plane) AddMachine(node, machine);
  }
}

void Builder::AddDeployment(ClusterNode& workers, const MachineObject& deployment) {
  NodeTraits traits = {.node_kind = kMachineDeployment, .groups = !options_.machine_sets};
  ClusterNode& node = *AddNode(workers, deployment.object, std::move(traits), options_);
  if (options_.templates) {
    ClusterNode& templates = AddVirtual(node, "TemplateGroup", deployment.object.name,
                                        {.node_kind = kVirtual, .role = "Templates", .z_order = 1});
    AddReference(templates, deployment.bootstrap, "BootstrapConfigTemplate");
    AddReference(templates, deployment.infrastructure, "MachineInfrastructureTemplate");
  }
  for (const MachineObject* set : OwnedBy(sets_of_, deployment)) {
    ClusterNode* parent = &node;
    if (options_.machine_sets)
      parent = AddNode(node, set->object, {.node_kind = kMachineSet, .groups = true}, options_);
    AddMachines(*parent, *set);
  }
}

void Builder::AddPool(ClusterNode& workers, const MachineObject& pool) {
  ClusterNode& node = *AddNode(workers, pool.object, {.node_kind = kMachinePool, .groups = true}, options_);
  AddExternal(node, pool.bootstrap, {.role = "BootstrapConfig", .no_echo = true});
  AddExternal(node, pool.infrastructure, {.role = "MachinePoolInfrastructure", .no_echo = true});
  AddMachines(node, pool);
}

// Machines that nothing of the above owns come last.
void Builder::AddWorkers() {
  bool all_placed = placed_.size() == parts_.machines.size();
  if (all_placed && parts_.deployments.empty() && parts_.pools.empty()) return;
  ClusterNode& workers = AddVirtual(root_, "WorkerGroup", "Workers");
  for (const MachineObject& deployment : parts_.deployments) AddDeployment(workers, deployment);
  for (const MachineObject& pool : parts_.pools) AddPool(workers, pool);
  if (placed_.size() == parts_.machines.size()) return;
  ClusterNode& other = AddVirtual(workers, "OtherGroup", "Other");
  for (const MachineObject& machine : parts_.machines) {
    if (!placed_.contains(machine.object.name)) AddMachine(other, machine);
  }
}

ClusterNode Builder::Build() {
  const ClusterObject& cluster = parts_.cluster.object;
  root_.node_kind = kCluster;
  root_.object = cluster;
  root_.shown = options_.conditions.For(cluster.kind, cluster.name);
  AddExternal(root_, parts_.cluster.infrastructure, {.role = "ClusterInfrastructure"});
  AddResourceSets();
  AddControlPlane();
  AddWorkers();
  SortChildren(root_);
  return std::move(root_);
}

}  // namespace

ClusterNode BuildClusterTree(const ClusterParts& parts, const TreeOptions& options, Externals& externals) {
  return Builder(parts, options, externals).Build();
}

}  // namespace capi::cli::describe
