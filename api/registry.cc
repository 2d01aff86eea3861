#include <fmt/format.h>

#include "api/release.h"

namespace capi::api {
namespace {

using enum ProviderType;

// A provider whose components file has the recommended name.
constexpr KnownProvider Of(std::string_view name, ProviderType type, std::string_view repository) {
  return {name, type, repository, kProviderKinds[static_cast<size_t>(type)].components_file};
}

// Ordered by type, then name.
// clang-format off
constexpr KnownProvider kKnown[] = {
    Of("cluster-api", kCore, "kubernetes-sigs/cluster-api"),
    Of("canonical-kubernetes", kBootstrap, "canonical/cluster-api-k8s"),
    Of("k0sproject-k0smotron", kBootstrap, "k0sproject/k0smotron"),
    Of("kairos-io", kBootstrap, "kairos-io/cluster-api-provider-kairos"),
    Of("kubeadm", kBootstrap, "kubernetes-sigs/cluster-api"),
    Of("kubekey-k3s", kBootstrap, "kubesphere/kubekey"),
    Of("microk8s", kBootstrap, "canonical/cluster-api-bootstrap-provider-microk8s"),
    Of("rke2", kBootstrap, "rancher/cluster-api-provider-rke2"),
    Of("talos", kBootstrap, "siderolabs/cluster-api-bootstrap-provider-talos"),
    Of("canonical-kubernetes", kControlPlane, "canonical/cluster-api-k8s"),
    Of("hosted-control-plane", kControlPlane, "teutonet/cluster-api-provider-hosted-control-plane"),
    Of("k0sproject-k0smotron", kControlPlane, "k0sproject/k0smotron"),
    Of("kairos-io", kControlPlane, "kairos-io/cluster-api-provider-kairos"),
    Of("kamaji", kControlPlane, "clastix/cluster-api-control-plane-provider-kamaji"),
    Of("kubeadm", kControlPlane, "kubernetes-sigs/cluster-api"),
    Of("kubekey-k3s", kControlPlane, "kubesphere/kubekey"),
    Of("microk8s", kControlPlane, "canonical/cluster-api-control-plane-provider-microk8s"),
    Of("nested", kControlPlane, "kubernetes-sigs/cluster-api-provider-nested"),
    Of("rke2", kControlPlane, "rancher/cluster-api-provider-rke2"),
    Of("talos", kControlPlane, "siderolabs/cluster-api-control-plane-provider-talos"),
    Of("aws", kInfrastructure, "kubernetes-sigs/cluster-api-provider-aws"),
    Of("azure", kInfrastructure, "kubernetes-sigs/cluster-api-provider-azure"),
    Of("byoh", kInfrastructure, "vmware-tanzu/cluster-api-provider-bringyourownhost"),
    Of("cloudscale-ch-cloudscale", kInfrastructure, "cloudscale-ch/cluster-api-provider-cloudscale"),
    Of("cloudstack", kInfrastructure, "kubernetes-sigs/cluster-api-provider-cloudstack"),
    Of("coxedge", kInfrastructure, "coxedge/cluster-api-provider-coxedge"),
    Of("digitalocean", kInfrastructure, "kubernetes-sigs/cluster-api-provider-digitalocean"),
    {"docker", kInfrastructure, "kubernetes-sigs/cluster-api",
     "infrastructure-components-development.yaml"},
    Of("gcp", kInfrastructure, "kubernetes-sigs/cluster-api-provider-gcp"),
    Of("harvester-harvester", kInfrastructure, "rancher-sandbox/cluster-api-provider-harvester"),
    Of("hetzner", kInfrastructure, "syself/cluster-api-provider-hetzner"),
    Of("huawei", kInfrastructure, "HuaweiCloudDeveloper/cluster-api-provider-huawei"),
    Of("ibmcloud", kInfrastructure, "kubernetes-sigs/cluster-api-provider-ibmcloud"),
    Of("ionoscloud-ionoscloud", kInfrastructure, "ionos-cloud/cluster-api-provider-ionoscloud"),
    Of("k0sproject-k0smotron", kInfrastructure, "k0sproject/k0smotron"),
    Of("kairos-io-fleet", kInfrastructure, "kairos-io/cluster-api-provider-kairos-fleet"),
    Of("kubekey", kInfrastructure, "kubesphere/kubekey"),
    Of("kubeswift-io", kInfrastructure, "kubeswift-io/cluster-api-provider-kubeswift"),
    Of("kubevirt", kInfrastructure, "kubernetes-sigs/cluster-api-provider-kubevirt"),
    Of("linode-linode", kInfrastructure, "linode/cluster-api-provider-linode"),
    Of("maas", kInfrastructure, "spectrocloud/cluster-api-provider-maas"),
    Of("metal-stack", kInfrastructure, "metal-stack/cluster-api-provider-metal-stack"),
    Of("metal3", kInfrastructure, "metal3-io/cluster-api-provider-metal3"),
    Of("nested", kInfrastructure, "kubernetes-sigs/cluster-api-provider-nested"),
    Of("nutanix", kInfrastructure, "nutanix-cloud-native/cluster-api-provider-nutanix"),
    Of("oci", kInfrastructure, "oracle/cluster-api-provider-oci"),
    Of("opennebula", kInfrastructure, "OpenNebula/cluster-api-provider-opennebula"),
    Of("openstack", kInfrastructure, "kubernetes-sigs/cluster-api-provider-openstack"),
    Of("outscale", kInfrastructure, "outscale/cluster-api-provider-outscale"),
    Of("oxide", kInfrastructure, "oxidecomputer/cluster-api-provider-oxide"),
    Of("proxmox", kInfrastructure, "ionos-cloud/cluster-api-provider-proxmox"),
    Of("scaleway", kInfrastructure, "scaleway/cluster-api-provider-scaleway"),
    Of("sidero", kInfrastructure, "siderolabs/sidero"),
    Of("tinkerbell-tinkerbell", kInfrastructure, "tinkerbell/cluster-api-provider-tinkerbell"),
    Of("vcd", kInfrastructure, "vmware/cluster-api-provider-cloud-director"),
    Of("vcluster", kInfrastructure, "loft-sh/cluster-api-provider-vcluster"),
    Of("virtink", kInfrastructure, "smartxworks/cluster-api-provider-virtink"),
    Of("vsphere", kInfrastructure, "kubernetes-sigs/cluster-api-provider-vsphere"),
    Of("vultr-vultr", kInfrastructure, "vultr/cluster-api-provider-vultr"),
    Of("in-cluster", kIpam, "kubernetes-sigs/cluster-api-ipam-provider-in-cluster"),
    Of("metal3", kIpam, "metal3-io/ip-address-manager"),
    Of("nutanix", kIpam, "nutanix-cloud-native/cluster-api-ipam-provider-nutanix"),
    {"nutanix", kRuntimeExtension, "nutanix-cloud-native/cluster-api-runtime-extensions-nutanix",
     "runtime-extensions-components.yaml"},
    Of("eitco-cdk8s", kAddon, "eitco/cluster-api-addon-provider-cdk8s"),
    Of("helm", kAddon, "kubernetes-sigs/cluster-api-addon-provider-helm"),
    Of("rancher-fleet", kAddon, "rancher/cluster-api-addon-provider-fleet"),
};

// No longer listed, but objects that name them still work.
constexpr KnownProvider kFormer[] = {
    Of("hivelocity-hivelocity", kInfrastructure, "hivelocity/cluster-api-provider-hivelocity"),
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
