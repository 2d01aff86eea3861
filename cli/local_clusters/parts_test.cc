#include "cli/local_clusters/parts.h"

#include <gtest/gtest.h>

#include "base/yaml/yaml.h"

namespace capi::cli::local_clusters {
namespace {

kube::Object Read(const std::string& yaml) { return kube::Object(ParseYaml(yaml).value()); }

// G10, and G11's stages.
TEST(Parts, OfEachKind) {
  struct Case {
    std::string api_version, kind, more;
    bool has_class;
    std::string file;
    bool makes_machines;
  };
  const std::string core = "cluster.x-k8s.io/v1beta2", infra = "infrastructure.cluster.x-k8s.io/v1beta2",
                    plane = "controlplane.cluster.x-k8s.io/v1beta2", boot = "bootstrap.cluster.x-k8s.io/v1beta2";
  const Case cases[] = {
      {"v1", "Namespace", "", false, "00_namespace_a.yaml", false},
      {"v1", "Secret", "", false, "00_other_secret_a.yaml", false},
      {"example.org/v1", "Cluster", "", false, "00_other_cluster_a.yaml", false},
      {"addons.cluster.x-k8s.io/v1beta2", "ClusterResourceSet", "", false, "00_other_clusterresourceset_a.yaml", false},
      {core, "ClusterClass", "", true, "00_topology_clusterclass_a.yaml", false},
      {infra, "DockerMachineTemplate", "", true, "00_topology_dockermachinetemplate_a.yaml", false},
      {boot, "KubeadmConfigTemplate", "", true, "00_topology_kubeadmconfigtemplate_a.yaml", false},
      {core, "MachineDeployment", "", true, "10_machines_machinedeployment_a.yaml", true},
      {core, "Cluster", "", true, "01_cluster_a.yaml", false},
      {infra, "AWSCluster", "", false, "02_infrastructure_awscluster_a.yaml", false},
      {infra, "AWSClusterControllerIdentity", "", false, "02_infrastructure_awsclustercontrolleridentity_a.yaml",
       false},
      {infra, "DockerMachineTemplate", "", false, "10_machines_dockermachinetemplate_a.yaml", true},
      {infra, "AWSMachine", "", false, "10_machines_awsmachine_a.yaml", true},
      {infra, "AzureManagedMachinePool", "", false, "10_machines_azuremanagedmachinepool_a.yaml", true},
      {boot, "KubeadmConfigTemplate", "", false, "10_machines_kubeadmconfigtemplate_a.yaml", true},
      {plane, "KubeadmControlPlane", "spec: {machineTemplate: {}}", false, "10_machines_kubeadmcontrolplane_a.yaml",
       true},
      {plane, "TalosControlPlane", "spec: {infrastructureTemplate: {}}", false, "10_machines_taloscontrolplane_a.yaml",
       true},
      {plane, "RKE2ControlPlane", "spec: {infrastructureRef: {}}", false, "10_machines_rke2controlplane_a.yaml", true},
      // A provider's service: the infrastructure waits for its address.
      {plane, "AWSManagedControlPlane", "spec: {}", false, "02_infrastructure_awsmanagedcontrolplane_a.yaml", false},
      {core, "MachineDeployment", "", false, "10_machines_machinedeployment_a.yaml", true},
      {core, "Machine", "", false, "10_machines_machine_a.yaml", true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.api_version + " " + c.kind);
    kube::Object object =
        Read("apiVersion: " + c.api_version + "\nkind: " + c.kind + "\nmetadata: {name: a}\n" + c.more);
    EXPECT_EQ(FileName(PartOf(object, c.has_class), object), c.file);
    EXPECT_EQ(MakesMachines(object, c.has_class), c.makes_machines);
  }
}

TEST(Parts, BootstrapSecretsAreThoseThatMachinesName) {
  const std::string head = "apiVersion: cluster.x-k8s.io/v1beta2\nmetadata: {name: a, namespace: 'n'}\n";
  EXPECT_EQ(BootstrapSecretsOf(Read(head + "kind: Machine\nspec: {bootstrap: {dataSecretName: s}}")),
            std::vector<std::string>{"n/s"});
  EXPECT_EQ(BootstrapSecretsOf(
                Read(head + "kind: MachineDeployment\nspec: {template: {spec: {bootstrap: {dataSecretName: s}}}}")),
            std::vector<std::string>{"n/s"});
  EXPECT_TRUE(BootstrapSecretsOf(Read(head + "kind: Machine\nspec: {bootstrap: {configRef: {name: x}}}")).empty());
  EXPECT_TRUE(BootstrapSecretsOf(Read(head + "kind: Cluster\nspec: {bootstrap: {dataSecretName: s}}")).empty());
}

}  // namespace
}  // namespace capi::cli::local_clusters
