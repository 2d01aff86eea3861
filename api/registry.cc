#include <fmt/format.h>

#include "api/release.h"

namespace capi::api {
namespace {

using enum ProviderType;

// Ordered by type, then name.
// clang-format off
constexpr KnownProvider kKnown[] = {
    {"cluster-api", kCore, "kubernetes-sigs/cluster-api", "core-components.yaml"},
    {"canonical-kubernetes", kBootstrap, "canonical/cluster-api-k8s", "bootstrap-components.yaml"},
    {"k0sproject-k0smotron", kBootstrap, "k0sproject/k0smotron", "bootstrap-components.yaml"},
    {"kairos-io", kBootstrap, "kairos-io/cluster-api-provider-kairos", "bootstrap-components.yaml"},
    {"kubeadm", kBootstrap, "kubernetes-sigs/cluster-api", "bootstrap-components.yaml"},
    {"kubekey-k3s", kBootstrap, "kubesphere/kubekey", "bootstrap-components.yaml"},
    {"microk8s", kBootstrap, "canonical/cluster-api-bootstrap-provider-microk8s", "bootstrap-components.yaml"},
    {"rke2", kBootstrap, "rancher/cluster-api-provider-rke2", "bootstrap-components.yaml"},
    {"talos", kBootstrap, "siderolabs/cluster-api-bootstrap-provider-talos", "bootstrap-components.yaml"},
    {"canonical-kubernetes", kControlPlane, "canonical/cluster-api-k8s", "control-plane-components.yaml"},
    {"hosted-control-plane", kControlPlane, "teutonet/cluster-api-provider-hosted-control-plane", "control-plane-components.yaml"},
    {"k0sproject-k0smotron", kControlPlane, "k0sproject/k0smotron", "control-plane-components.yaml"},
    {"kairos-io", kControlPlane, "kairos-io/cluster-api-provider-kairos", "control-plane-components.yaml"},
    {"kamaji", kControlPlane, "clastix/cluster-api-control-plane-provider-kamaji", "control-plane-components.yaml"},
    {"kubeadm", kControlPlane, "kubernetes-sigs/cluster-api", "control-plane-components.yaml"},
    {"kubekey-k3s", kControlPlane, "kubesphere/kubekey", "control-plane-components.yaml"},
    {"microk8s", kControlPlane, "canonical/cluster-api-control-plane-provider-microk8s", "control-plane-components.yaml"},
    {"nested", kControlPlane, "kubernetes-sigs/cluster-api-provider-nested", "control-plane-components.yaml"},
    {"rke2", kControlPlane, "rancher/cluster-api-provider-rke2", "control-plane-components.yaml"},
    {"talos", kControlPlane, "siderolabs/cluster-api-control-plane-provider-talos", "control-plane-components.yaml"},
    {"aws", kInfrastructure, "kubernetes-sigs/cluster-api-provider-aws", "infrastructure-components.yaml"},
    {"azure", kInfrastructure, "kubernetes-sigs/cluster-api-provider-azure", "infrastructure-components.yaml"},
    {"byoh", kInfrastructure, "vmware-tanzu/cluster-api-provider-bringyourownhost", "infrastructure-components.yaml"},
    {"cloudscale-ch-cloudscale", kInfrastructure, "cloudscale-ch/cluster-api-provider-cloudscale", "infrastructure-components.yaml"},
    {"cloudstack", kInfrastructure, "kubernetes-sigs/cluster-api-provider-cloudstack", "infrastructure-components.yaml"},
    {"coxedge", kInfrastructure, "coxedge/cluster-api-provider-coxedge", "infrastructure-components.yaml"},
    {"digitalocean", kInfrastructure, "kubernetes-sigs/cluster-api-provider-digitalocean", "infrastructure-components.yaml"},
    {"docker", kInfrastructure, "kubernetes-sigs/cluster-api", "infrastructure-components-development.yaml"},
    {"gcp", kInfrastructure, "kubernetes-sigs/cluster-api-provider-gcp", "infrastructure-components.yaml"},
    {"harvester-harvester", kInfrastructure, "rancher-sandbox/cluster-api-provider-harvester", "infrastructure-components.yaml"},
    {"hetzner", kInfrastructure, "syself/cluster-api-provider-hetzner", "infrastructure-components.yaml"},
    {"huawei", kInfrastructure, "HuaweiCloudDeveloper/cluster-api-provider-huawei", "infrastructure-components.yaml"},
    {"ibmcloud", kInfrastructure, "kubernetes-sigs/cluster-api-provider-ibmcloud", "infrastructure-components.yaml"},
    {"ionoscloud-ionoscloud", kInfrastructure, "ionos-cloud/cluster-api-provider-ionoscloud", "infrastructure-components.yaml"},
    {"k0sproject-k0smotron", kInfrastructure, "k0sproject/k0smotron", "infrastructure-components.yaml"},
    {"kairos-io-fleet", kInfrastructure, "kairos-io/cluster-api-provider-kairos-fleet", "infrastructure-components.yaml"},
    {"kubekey", kInfrastructure, "kubesphere/kubekey", "infrastructure-components.yaml"},
    {"kubeswift-io", kInfrastructure, "kubeswift-io/cluster-api-provider-kubeswift", "infrastructure-components.yaml"},
    {"kubevirt", kInfrastructure, "kubernetes-sigs/cluster-api-provider-kubevirt", "infrastructure-components.yaml"},
    {"linode-linode", kInfrastructure, "linode/cluster-api-provider-linode", "infrastructure-components.yaml"},
    {"maas", kInfrastructure, "spectrocloud/cluster-api-provider-maas", "infrastructure-components.yaml"},
    {"metal-stack", kInfrastructure, "metal-stack/cluster-api-provider-metal-stack", "infrastructure-components.yaml"},
    {"metal3", kInfrastructure, "metal3-io/cluster-api-provider-metal3", "infrastructure-components.yaml"},
    {"nested", kInfrastructure, "kubernetes-sigs/cluster-api-provider-nested", "infrastructure-components.yaml"},
    {"nutanix", kInfrastructure, "nutanix-cloud-native/cluster-api-provider-nutanix", "infrastructure-components.yaml"},
    {"oci", kInfrastructure, "oracle/cluster-api-provider-oci", "infrastructure-components.yaml"},
    {"opennebula", kInfrastructure, "OpenNebula/cluster-api-provider-opennebula", "infrastructure-components.yaml"},
    {"openstack", kInfrastructure, "kubernetes-sigs/cluster-api-provider-openstack", "infrastructure-components.yaml"},
    {"outscale", kInfrastructure, "outscale/cluster-api-provider-outscale", "infrastructure-components.yaml"},
    {"oxide", kInfrastructure, "oxidecomputer/cluster-api-provider-oxide", "infrastructure-components.yaml"},
    {"proxmox", kInfrastructure, "ionos-cloud/cluster-api-provider-proxmox", "infrastructure-components.yaml"},
    {"scaleway", kInfrastructure, "scaleway/cluster-api-provider-scaleway", "infrastructure-components.yaml"},
    {"sidero", kInfrastructure, "siderolabs/sidero", "infrastructure-components.yaml"},
    {"tinkerbell-tinkerbell", kInfrastructure, "tinkerbell/cluster-api-provider-tinkerbell", "infrastructure-components.yaml"},
    {"vcd", kInfrastructure, "vmware/cluster-api-provider-cloud-director", "infrastructure-components.yaml"},
    {"vcluster", kInfrastructure, "loft-sh/cluster-api-provider-vcluster", "infrastructure-components.yaml"},
    {"virtink", kInfrastructure, "smartxworks/cluster-api-provider-virtink", "infrastructure-components.yaml"},
    {"vsphere", kInfrastructure, "kubernetes-sigs/cluster-api-provider-vsphere", "infrastructure-components.yaml"},
    {"vultr-vultr", kInfrastructure, "vultr/cluster-api-provider-vultr", "infrastructure-components.yaml"},
    {"in-cluster", kIpam, "kubernetes-sigs/cluster-api-ipam-provider-in-cluster", "ipam-components.yaml"},
    {"metal3", kIpam, "metal3-io/ip-address-manager", "ipam-components.yaml"},
    {"nutanix", kIpam, "nutanix-cloud-native/cluster-api-ipam-provider-nutanix", "ipam-components.yaml"},
    {"nutanix", kRuntimeExtension, "nutanix-cloud-native/cluster-api-runtime-extensions-nutanix", "runtime-extensions-components.yaml"},
    {"eitco-cdk8s", kAddon, "eitco/cluster-api-addon-provider-cdk8s", "addon-components.yaml"},
    {"helm", kAddon, "kubernetes-sigs/cluster-api-addon-provider-helm", "addon-components.yaml"},
    {"rancher-fleet", kAddon, "rancher/cluster-api-addon-provider-fleet", "addon-components.yaml"},
};

// No longer listed, but objects that name them still work.
constexpr KnownProvider kFormer[] = {
    {"hivelocity-hivelocity", kInfrastructure, "hivelocity/cluster-api-provider-hivelocity", "infrastructure-components.yaml"},
};
// clang-format on

const KnownProvider* FindIn(std::span<const KnownProvider> table, ProviderType type, std::string_view name) {
  for (const KnownProvider& known : table) {
    if (known.type == type && known.name == name) return &known;
  }
  return nullptr;
}

}  // namespace

std::string KnownProvider::Url() const {
  return fmt::format("https://github.com/{}/releases/latest/{}", repository, file);
}

std::span<const KnownProvider> KnownProviders() { return kKnown; }

const KnownProvider* FindKnownProvider(ProviderType type, std::string_view name) {
  const KnownProvider* found = FindIn(kKnown, type, name);
  return found != nullptr ? found : FindIn(kFormer, type, name);
}

}  // namespace capi::api
