// A management cluster for tests of these commands: Cluster API's kinds on a real API server, whose controllers the
// test plays.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/encoding.h"
#include "base/files.h"
#include "base/strings.h"
#include "cli/local_clusters/watch.h"
#include "cli/testing.h"
#include "kube/testing/control_plane.h"
#include "kube/testing/fault_proxy.h"

namespace capi::cli::local_clusters {

inline std::string CrdOf(const std::string& group, const std::string& kind, const std::string& plural) {
  return fmt::format(R"(---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {1}.{0}, labels: {{cluster.x-k8s.io/v1beta2: v1beta2}}}}
spec:
  group: {0}
  scope: Namespaced
  names: {{kind: {2}, plural: {1}}}
  versions:
  - {{name: v1beta2, served: true, storage: true, subresources: {{status: {{}}}},
     schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}
)",
                     group, plural, kind);
}

// Each test has a namespace and a folder of its own; what plays controllers ends with it.
class LocalClustersTest : public testing::Test {
 protected:
  using Play = std::function<void(kube::Object& object)>;

  void SetUp() override {
    kube::ControlPlane& plane = kube::ControlPlane::Shared(false);
    client_ = plane.NewClient();
    static const bool made = MakeKinds(*client_);
    ASSERT_TRUE(made);
    ns_ = ToLower(testing::UnitTest::GetInstance()->current_test_info()->name()).substr(0, 50);
    kube::ApplyYaml(*client_, "{apiVersion: v1, kind: Namespace, metadata: {name: " + ns_ + "}}");
  }
  void TearDown() override { player_ = {}; }

  // Changes the status of each Cluster and Machine that comes or changes, as a controller does.
  void PlayControllers(Play clusters, Play machines) {
    player_ =
        std::jthread([this, clusters = std::move(clusters), machines = std::move(machines)](std::stop_token stop) {
          while (!stop.stop_requested()) {
            PlayKind(ClusterResource(), clusters);
            PlayKind(MachineResource(), machines);
            SystemClock().Sleep(stop, Millis(20));
          }
        });
  }

  Outcome Local(std::vector<std::string> arguments, Variables variables = {}) {
    const std::string through = through_.empty() ? kube::ControlPlane::Shared(false).kubeconfig() : through_;
    arguments.insert(arguments.begin(), "local");
    arguments.insert(arguments.end(), {"--kubeconfig", through});
    variables["HOME"] = folder_.path();
    return Clusterctl(arguments, variables);
  }

  // Commands meet these faults from now on, as long as the proxy is there.
  std::unique_ptr<kube::FaultProxy> Through(std::function<kube::Fault(const kube::ProxyRequest&)> faults) {
    auto proxy = kube::FaultProxy::Start(kube::ControlPlane::Shared(false).config()).value();
    proxy->SetFaults(std::move(faults));
    through_ = proxy->WriteKubeconfig(folder_.path());
    return proxy;
  }

  // YAML with @ for the test's namespace.
  void Put(const std::string& file, const std::string& yaml) { folder_.Put("m/" + file, ReplaceAll(yaml, "@", ns_)); }
  void PutHook(const std::string& stage, const std::string& text) {
    std::string path = folder_.Put("m/hooks/" + stage, ReplaceAll("#!/bin/sh\nset -eu\n" + text + "\n", "@", ns_));
    chmod(path.c_str(), 0700);
  }
  std::string Text(const std::string& file) {
    auto text = ReadFile(folder_ / file);
    return text.ok() ? *text : text.error().message;
  }
  Result<kube::Object> Live(const std::string& kind, const std::string& name) {
    auto resource = client_->mapper().For(ctx_, {kind == "Secret" || kind == "ConfigMap" ? "" : GroupOf(kind), kind});
    if (!resource.ok()) return resource.error();
    return client_->Get(ctx_, *resource, ns_, name);
  }

  Context ctx_;
  TestFolder folder_;
  std::string ns_;
  std::unique_ptr<kube::Client> client_;

 private:
  std::string through_;  // a kubeconfig; "" for that of the control plane

  static std::string GroupOf(const std::string& kind) {
    return kind.starts_with("Docker") ? "infrastructure.cluster.x-k8s.io" : "cluster.x-k8s.io";
  }
  static bool MakeKinds(kube::Client& client) {
    const std::string core = "cluster.x-k8s.io";
    kube::ApplyYaml(
        client, CrdOf(core, "Cluster", "clusters") + CrdOf(core, "Machine", "machines") +
                    CrdOf(core, "MachineDeployment", "machinedeployments") + CrdOf(core, "MachineSet", "machinesets") +
                    CrdOf(core, "MachinePool", "machinepools") + CrdOf(core, "ClusterClass", "clusterclasses") +
                    CrdOf("infrastructure.cluster.x-k8s.io", "DockerCluster", "dockerclusters") +
                    CrdOf("infrastructure.cluster.x-k8s.io", "DockerMachineTemplate", "dockermachinetemplates"));
    return kube::Eventually([&] {
      client.mapper().Invalidate();
      for (const char* kind :
           {"Cluster", "Machine", "MachineDeployment", "MachineSet", "MachinePool", "ClusterClass"}) {
        if (!client.mapper().For(Context{}, {"cluster.x-k8s.io", kind}).ok()) return false;
      }
      return client.mapper().For(Context{}, {"infrastructure.cluster.x-k8s.io", "DockerCluster"}).ok() &&
             client.mapper().For(Context{}, {"infrastructure.cluster.x-k8s.io", "DockerMachineTemplate"}).ok() &&
             client.List(Context{}, ClusterResource(), "default").ok() &&
             client.List(Context{}, MachineResource(), "default").ok();
    });
  }
  void PlayKind(const kube::Resource& resource, const Play& play) {
    auto list = client_->List(ctx_, resource, ns_);
    if (!list.ok()) return;
    for (kube::Object& object : list->items) {
      const kube::Object before = object;
      play(object);
      if (object.json() == before.json()) continue;
      object.json()["apiVersion"] = resource.api_version();
      object.json()["kind"] = resource.kind;
      static_cast<void>(client_->Update(ctx_, resource, object, {.subresource = "status"}));
    }
  }

  std::jthread player_;
};

inline void NoPlay(kube::Object&) {}
inline void Provision(kube::Object& object) {
  Ensure(object.json(), {"status", "initialization", "infrastructureProvisioned"}) = true;
}

inline constexpr char kCluster[] =
    R"({apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: my, namespace: @},
  spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DockerCluster, name: my}}})";
inline constexpr char kDocker[] =
    "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerCluster, metadata: {name: my, namespace: @}, "
    "spec: "
    "{region: a}}";
inline constexpr char kMachine[] = R"({apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine,
  metadata: {name: my-0, namespace: @, labels: {cluster.x-k8s.io/cluster-name: my}},
  spec: {clusterName: my, bootstrap: {dataSecretName: my-boot}}})";
inline constexpr char kBoot[] =
    "{apiVersion: v1, kind: Secret, metadata: {name: my-boot, namespace: @}, stringData: {value: from-a-file}}";

// A folder with a Cluster, its infrastructure, a Machine and the Secret of that. Thread-compatible.
class ApplyingTest : public LocalClustersTest {
 protected:
  void SetUp() override {
    LocalClustersTest::SetUp();
    Put("01_cluster.yaml", kCluster);
    Put("02_infrastructure.yaml", kDocker);
    Put("10_machines.yaml", kMachine + std::string("\n---\n") + kBoot);
  }
  Outcome Apply(std::vector<std::string> more = {}, Variables variables = {}) {
    std::vector<std::string> arguments = {"apply", folder_ / "m"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Local(arguments, variables);
  }
  std::vector<std::string> Archives() {
    std::vector<std::string> out;
    for (const std::string& name : ListDir(folder_ / "m").value()) {
      if (name.ends_with(".tar.gz")) out.push_back(folder_ / ("m/" + name));
    }
    return out;
  }
  std::string BootData() {
    auto secret = Live("Secret", "my-boot");
    return secret.ok() ? Base64Decode(GetString(secret->json(), {"data", "value"})).value() : secret.error().message;
  }
};

}  // namespace capi::cli::local_clusters
