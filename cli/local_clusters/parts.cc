#include "cli/local_clusters/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace capi::cli::local_clusters {
namespace {

constexpr std::string_view kCore = "cluster.x-k8s.io";
constexpr std::array<std::string_view, 6> kMachineKinds = {"Machine",     "MachineSet",         "MachineDeployment",
                                                           "MachinePool", "MachineHealthCheck", "MachineDrainRule"};

bool IsTemplate(const std::string& kind) { return kind.ends_with("Template"); }

// Number and word of a part's files.
std::string_view PrefixOf(Part part) {
  switch (part) {
    case Part::kNamespace: return "00_namespace";
    case Part::kOther: return "00_other";
    case Part::kTopology: return "00_topology";
    case Part::kCluster: return "01_cluster";
    case Part::kInfrastructure: return "02_infrastructure";
    case Part::kMachines: return "10_machines";
  }
  return "";
}

}  // namespace

bool IsOfClusterApi(const std::string& group) { return group == kCore || group.ends_with(".cluster.x-k8s.io"); }

bool IsCluster(const kube::Object& object) {
  return object.kind() == "Cluster" && object.group_version().group == kCore;
}

bool IsClusterClass(const kube::Object& object) {
  return object.kind() == "ClusterClass" && object.group_version().group == kCore;
}

bool IsSecret(const kube::Object& object) { return object.kind() == "Secret" && object.group_version().group.empty(); }

bool MakesMachines(const kube::Object& object, bool has_class) {
  const std::string group = object.group_version().group, kind = object.kind();
  if (has_class && IsTemplate(kind) && IsOfClusterApi(group)) return false;
  if (group == kCore) return std::find(kMachineKinds.begin(), kMachineKinds.end(), kind) != kMachineKinds.end();
  if (group.starts_with("bootstrap.")) return true;
  if (group.starts_with("controlplane.")) {
    // Cluster API's own, and what Talos' and older ones of RKE2 have in its place.
    for (const char* machines : {"machineTemplate", "infrastructureTemplate", "infrastructureRef"}) {
      if (Find(object.json(), {"spec", machines}) != nullptr) return true;
    }
    return false;
  }
  return group.starts_with("infrastructure.") && kind.find("Machine") != std::string::npos;
}

Part PartOf(const kube::Object& object, bool has_class) {
  const std::string group = object.group_version().group, kind = object.kind();
  if (group.empty() && kind == "Namespace") return Part::kNamespace;
  if (IsCluster(object)) return Part::kCluster;
  if (IsClusterClass(object)) return Part::kTopology;
  if (!IsOfClusterApi(group)) return Part::kOther;
  if (has_class && IsTemplate(kind)) return Part::kTopology;
  if (MakesMachines(object, has_class)) return Part::kMachines;
  return group.starts_with("infrastructure.") || group.starts_with("controlplane.") ? Part::kInfrastructure
                                                                                    : Part::kOther;
}

std::string FileName(Part part, const kube::Object& object) {
  if (part == Part::kNamespace || part == Part::kCluster)
    return fmt::format("{}_{}.yaml", PrefixOf(part), object.name());
  return fmt::format("{}_{}_{}.yaml", PrefixOf(part), ToLower(object.kind()), object.name());
}

std::vector<std::string> BootstrapSecretsOf(const kube::Object& object) {
  std::vector<std::string> out;
  if (object.group_version().group != kCore || !MakesMachines(object, false)) return out;
  const std::string names[] = {GetString(object.json(), {"spec", "bootstrap", "dataSecretName"}),
                               GetString(object.json(), {"spec", "template", "spec", "bootstrap", "dataSecretName"})};
  for (const std::string& name : names) {
    if (!name.empty()) out.push_back(fmt::format("{}/{}", object.ns(), name));
  }
  return out;
}

}  // namespace capi::cli::local_clusters
