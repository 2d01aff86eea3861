#include "e2e/real_managers/workload_cluster.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/strings.h"

namespace capi::e2e {
namespace {

constexpr const char* kCore = "cluster.x-k8s.io";

// @ is the name, # the number of workers. The docker provider panics on a DevCluster without any annotation.
constexpr const char* kObjects = R"(
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: DevCluster
metadata: {name: "@", namespace: default, annotations: {test: ""}}
spec: {backend: {inMemory: {}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: DevMachineTemplate
metadata: {name: "@", namespace: default}
spec:
  template:
    spec:
      backend:
        inMemory:
          vm: {provisioning: {startupDuration: 1s, startupJitter: "0.2"}}
          node: {provisioning: {startupDuration: 1s, startupJitter: "0.2"}}
          apiServer: {provisioning: {startupDuration: 1s, startupJitter: "0.2"}}
          etcd: {provisioning: {startupDuration: 1s, startupJitter: "0.2"}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfigTemplate
metadata: {name: "@", namespace: default}
spec:
  template:
    spec:
      joinConfiguration: {nodeRegistration: {criSocket: "unix:///run/containerd/containerd.sock"}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {name: "@", namespace: default}
spec:
  replicas: 1
  version: v1.31.0
  machineTemplate:
    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: DevMachineTemplate, name: "@"}
  kubeadmConfigSpec:
    clusterConfiguration: {apiServer: {certSANs: [localhost, 127.0.0.1]}}
    initConfiguration: {nodeRegistration: {criSocket: "unix:///run/containerd/containerd.sock"}}
    joinConfiguration: {nodeRegistration: {criSocket: "unix:///run/containerd/containerd.sock"}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: "@", namespace: default}
spec:
  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.128.0.0/12]}}
  controlPlaneRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, name: "@"}
  infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: DevCluster, name: "@"}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: "@", namespace: default}
spec:
  clusterName: "@"
  replicas: #
  selector: {}
  template:
    spec:
      clusterName: "@"
      version: v1.31.0
      bootstrap: {configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: "@"}}
      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: DevMachineTemplate, name: "@"}
)";

kube::Resource At(const char* group, const char* kind, const std::string& version = "v1beta1") {
  return {.group = group, .version = version, .plural = ToLower(kind) + "s", .kind = kind, .namespaced = true};
}

}  // namespace

void WorkloadCluster::Create(int workers) {
  std::string text = ReplaceAll(ReplaceAll(kObjects, "@", name_), "#", std::to_string(workers));
  cluster_.client().mapper().Invalidate();
  kube::ApplyYaml(cluster_.client(), text);
}

void WorkloadCluster::Scale(int workers) {
  Json patch = {{"spec", {{"replicas", workers}}}};
  Result<kube::Object> patched = Error{};
  bool done = kube::Eventually([&] {
    patched = cluster_.client().Patch(cluster_.ctx(), At(kCore, "MachineDeployment"), "default", name_,
                                      kube::PatchType::kMerge, patch);
    return patched.ok();
  });
  EXPECT_TRUE(done) << patched.error().message;
}

Result<std::vector<kube::Object>> WorkloadCluster::Objects(const char* group, const char* kind) {
  kube::ListOptions options{.label_selector = "cluster.x-k8s.io/cluster-name=" + name_};
  return TRY(cluster_.client().List(cluster_.ctx(), At(group, kind), "default", options)).items;
}

bool WorkloadCluster::AwaitRunning(int machines, Millis timeout) {
  auto phase = [](const kube::Object& object) { return GetString(object.json(), {"status", "phase"}); };
  bool all = kube::Eventually(
      [&] {
        auto found = Objects(kCore, "Machine");
        auto whole = cluster_.client().Get(cluster_.ctx(), At(kCore, "Cluster"), "default", name_);
        if (!found.ok() || !whole.ok() || phase(*whole) != "Provisioned") return false;
        return std::ssize(*found) == machines &&
               std::all_of(found->begin(), found->end(), [&](const auto& m) { return phase(m) == "Running"; });
      },
      timeout, Millis(200));
  EXPECT_TRUE(all) << "no " << machines << " running Machines:\n" << Describe();
  return all;
}

void WorkloadCluster::Delete() {
  auto deleted = cluster_.client().Delete(cluster_.ctx(), At(kCore, "Cluster"), "default", name_);
  EXPECT_TRUE(deleted.ok()) << deleted.error().message;
}

bool WorkloadCluster::AwaitGone(Millis timeout) {
  bool gone = kube::Eventually(
      [&] {
        auto whole = cluster_.client().Get(cluster_.ctx(), At(kCore, "Cluster"), "default", name_);
        return !whole.ok() && whole.code() == Code::kNotFound;
      },
      timeout, Millis(200));
  EXPECT_TRUE(gone) << "the Cluster is still there:\n" << Describe();
  return gone;
}

std::string WorkloadCluster::Describe() {
  std::string text;
  auto say = [&](const kube::Object& object) {
    text += fmt::format("{} {}: {}\n", object.kind(), object.name(), GetString(object.json(), {"status", "phase"}));
    const Json* conditions = Find(object.json(), {"status", "conditions"});
    if (conditions == nullptr) return;
    for (const Json& c : *conditions) {
      if (GetString(c, {"status"}) == "True") continue;
      text += fmt::format("  {}={} {}: {}\n", GetString(c, {"type"}), GetString(c, {"status"}),
                          GetString(c, {"reason"}), GetString(c, {"message"}));
    }
  };
  auto whole = cluster_.client().Get(cluster_.ctx(), At(kCore, "Cluster"), "default", name_);
  if (!whole.ok()) return whole.error().message;
  say(*whole);
  for (const char* kind : {"Machine", "MachineDeployment"}) {
    auto found = Objects(kCore, kind);
    if (!found.ok()) return text + found.error().message;
    for (const auto& object : *found) say(object);
  }
  return text;
}

kube::Resource CrdVersions::At(const std::string& version) const {
  kube::Resource at = resource;
  at.version = version;
  return at;
}

std::string CrdVersions::Describe() const {
  return fmt::format("{}: served {}, stored {}, now {}", name, Join(served, ","), Join(stored, ","), resource.version);
}

std::vector<CrdVersions> ListCrds(Cluster& cluster) {
  kube::ListOptions options{.label_selector = "cluster.x-k8s.io/provider"};
  auto list = cluster.client().List(cluster.ctx(), kube::Builtin("CustomResourceDefinition"), "", options);
  EXPECT_TRUE(list.ok()) << list.error().message;
  std::vector<CrdVersions> out;
  if (!list.ok()) return out;
  for (const kube::Object& crd : list->items) {
    const Json& json = crd.json();
    CrdVersions one;
    one.name = crd.name();
    one.resource = {.group = GetString(json, {"spec", "group"}),
                    .plural = GetString(json, {"spec", "names", "plural"}),
                    .kind = GetString(json, {"spec", "names", "kind"}),
                    .namespaced = GetString(json, {"spec", "scope"}) == "Namespaced"};
    for (const Json& version : *Find(json, {"spec", "versions"})) {
      std::string name = GetString(version, {"name"});
      if (GetBool(version, {"served"})) one.served.push_back(name);
      if (GetBool(version, {"storage"})) one.resource.version = name;
    }
    for (const Json& version : *Find(json, {"status", "storedVersions"})) one.stored.push_back(version);
    out.push_back(std::move(one));
  }
  return out;
}

std::map<std::string, std::string> UidsOf(Cluster& cluster, const std::vector<CrdVersions>& crds) {
  std::map<std::string, std::string> out;
  for (const CrdVersions& crd : crds) {
    std::string errors;
    bool read = false;
    for (const std::string& version : crd.stored) {
      auto list = cluster.client().List(cluster.ctx(), crd.At(version), "", {.metadata_only = true});
      if (!list.ok()) errors += fmt::format("\n  {}: {}", version, list.error().message);
      if (read || !list.ok()) continue;
      read = true;
      for (const kube::Object& object : list->items) {
        out[fmt::format("{} {}/{}", crd.resource.kind, object.ns(), object.name())] = object.uid();
      }
    }
    EXPECT_TRUE(read) << crd.Describe() << errors;
  }
  return out;
}

}  // namespace capi::e2e
