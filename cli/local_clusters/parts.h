// Which part of a cluster an object is of, and the name of the file that it is written to. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/object.h"

namespace capi::cli::local_clusters {

// In the order of their files.
enum class Part {
  kNamespace,       // 00_namespace_NAME.yaml
  kOther,           // 00_other_KIND_NAME.yaml: Secrets, ConfigMaps, and any kind that isn't one of those below
  kTopology,        // 00_topology_KIND_NAME.yaml: ClusterClasses, and the templates that they name
  kCluster,         // 01_cluster_NAME.yaml
  kInfrastructure,  // 02_infrastructure_KIND_NAME.yaml
  kMachines,        // 10_machines_KIND_NAME.yaml
};

// `has_class`: whether there is a ClusterClass among the objects that belong together; their templates are its then.
Part PartOf(const kube::Object& object, bool has_class);

// What makes machines, or is one: it waits until the infrastructure is ready, whatever file it is in. A control plane
// without machines of its own (a provider's service) isn't: the infrastructure waits for it. Nor is, with `has_class`,
// a template: a Cluster's infrastructure comes of a class once all of the class is there.
bool MakesMachines(const kube::Object& object, bool has_class);

// Group of Cluster API or of one of its providers.
bool IsOfClusterApi(const std::string& group);
bool IsCluster(const kube::Object& object);
bool IsClusterClass(const kube::Object& object);
bool IsSecret(const kube::Object& object);

// "01_cluster_my-cluster.yaml".
std::string FileName(Part part, const kube::Object& object);

// The names of the bootstrap Secrets that a Machine, or what makes machines, gives them itself, as "namespace/name".
std::vector<std::string> BootstrapSecretsOf(const kube::Object& object);

}  // namespace capi::cli::local_clusters
