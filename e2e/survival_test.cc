// The operator against a world that breaks: restarts, cut connections, its own death, things that come late (F3, U7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>

#include "base/mutex.h"
#include "e2e/cluster.h"
#include "e2e/operator_process.h"
#include "kube/apply/inventory.h"
#include "kube/testing/fault_proxy.h"

namespace capi::e2e {
namespace {

using api::ProviderType;

// A release of a few small objects, made on the spot; every version has its own ConfigMap data.
void StoreSmallRelease(Cluster& cluster, const std::string& ns, const std::string& name, const std::string& version) {
  std::string components = R"(
apiVersion: v1
kind: ServiceAccount
metadata: {name: small-manager, namespace: small-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME-manager-role}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: small-config, namespace: small-system}
data: {version: "VERSION", extra: "${EXTRA:=none}"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: small-controller-manager, namespace: small-system}
spec:
  replicas: 1
  selector: {matchLabels: {app: small}}
  template:
    metadata: {labels: {app: small}}
    spec: {containers: [{name: manager, image: "registry.example/small:VERSION"}]}
)";
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"NAME", name}, {"VERSION", version}}) {
    for (size_t at; (at = components.find(from)) != components.npos;) components.replace(at, from.size(), to);
  }
  cluster.StoreConfigMap(ns, name + "-" + version,
                         {{"provider.cluster.x-k8s.io/type", "infrastructure"},
                          {"provider.cluster.x-k8s.io/name", name},
                          {"provider.cluster.x-k8s.io/version", version}},
                         {{"metadata",
                           "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
                           "- {major: 1, minor: 0, contract: v1beta1}\n"},
                          {"components", components}});
}

Json SmallSpec(const std::string& name, const std::string& version) {
  return {{"version", version},
          {"fetchConfig", {{"selector", {{"matchLabels", {{"provider.cluster.x-k8s.io/name", name}}}}}}}};
}

class Survival : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ReleasesDir().empty()) GTEST_SKIP() << "RELEASES_DIR isn't set";
    auto& plane = kube::ControlPlane::Shared();
    cluster_ = std::make_unique<Cluster>(plane);
    auto proxy = kube::FaultProxy::Start(plane.config());
    ASSERT_TRUE(proxy.ok()) << proxy.error().message;
    proxy_ = std::move(proxy).value();
    kubeconfig_ = proxy_->WriteKubeconfig(folder_.path());
  }
  void TearDown() override {
    if (!cluster_) return;
    proxy_->SetFaults(nullptr);
    if (!operator_) operator_ = std::make_unique<OperatorProcess>(kubeconfig_);
    if (!operator_->running()) operator_->Restart();
    cluster_->DeleteAllProviders();
  }
  void StartOperator(std::vector<std::string> arguments = {}) {
    operator_ = std::make_unique<OperatorProcess>(kubeconfig_, std::move(arguments));
  }
  void ExpectInventoryExists(ProviderType type, const std::string& ns, const std::string& name) {
    Seen seen = cluster_->See(type, ns, name);
    auto inventory = kube::Inventory::Parse(seen.provider.status.inventory);
    ASSERT_TRUE(inventory.ok());
    for (const auto& [id, entry] : inventory->entries()) {
      EXPECT_TRUE(cluster_->Exists(id, entry.version)) << id.ToString();
      EXPECT_FALSE(entry.stale) << id.ToString();
    }
  }

  kube::TemporaryFolder folder_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<kube::FaultProxy> proxy_;
  std::string kubeconfig_;
  std::unique_ptr<OperatorProcess> operator_;
};

// I4: the core arrives last, and everyone goes on by itself.
TEST_F(Survival, TheCoreArrivesLast) {
  StartOperator();
  cluster_->CreateNamespace("small");
  StoreSmallRelease(*cluster_, "small", "small", "v1.0.0");
  cluster_->ApplyProvider(ProviderType::kInfrastructure, "small", "small", SmallSpec("small", "v1.0.0"));
  ASSERT_TRUE(cluster_->AwaitReason(ProviderType::kInfrastructure, "small", "small", "PreflightCheckPassed",
                                    "WaitingForCoreProviderReady"));
  EXPECT_FALSE(cluster_->Exists({"", "ServiceAccount", "small", "small-manager"}));
  ASSERT_TRUE(cluster_->InstallCore("v1.12.0"));
  ASSERT_TRUE(cluster_->AwaitReady(ProviderType::kInfrastructure, "small", "small"));
}

// F1: the Secret arrives after the Provider.
TEST_F(Survival, TheSecretArrivesLater) {
  StartOperator();
  ASSERT_TRUE(cluster_->InstallCore("v1.12.0"));
  cluster_->CreateNamespace("small");
  StoreSmallRelease(*cluster_, "small", "small", "v1.0.0");
  Json spec = SmallSpec("small", "v1.0.0");
  spec["configSecret"] = {{"name", "late"}};
  cluster_->ApplyProvider(ProviderType::kInfrastructure, "small", "small", spec);
  ASSERT_TRUE(
      cluster_->AwaitReason(ProviderType::kInfrastructure, "small", "small", "PreflightCheckPassed", "SecretNotFound"));
  cluster_->StoreSecret("small", "late", {{"EXTRA", "came late"}});
  ASSERT_TRUE(cluster_->AwaitReady(ProviderType::kInfrastructure, "small", "small"));
  EXPECT_EQ(GetString(cluster_->Get("ConfigMap", "small", "small-config").json(), {"data", "extra"}), "came late");
  // U1: a change of the Secret is a change of input.
  cluster_->StoreSecret("small", "late", {{"EXTRA", "changed"}});
  EXPECT_TRUE(kube::Eventually([&] {
    return GetString(cluster_->Get("ConfigMap", "small", "small-config").json(), {"data", "extra"}) == "changed";
  }));
}

// F3: every connection is cut, again and again.
TEST_F(Survival, ConnectionsAreCut) {
  StartOperator();
  ASSERT_TRUE(cluster_->InstallCore("v1.12.0"));
  cluster_->CreateNamespace("small");
  StoreSmallRelease(*cluster_, "small", "small", "v1.0.0");
  StoreSmallRelease(*cluster_, "small", "small", "v1.0.1");
  for (int i = 0; i < 3; ++i) proxy_->CutAllConnections();
  cluster_->ApplyProvider(ProviderType::kInfrastructure, "small", "small", SmallSpec("small", "v1.0.0"));
  ASSERT_TRUE(cluster_->AwaitReady(ProviderType::kInfrastructure, "small", "small"));
  proxy_->CutAllConnections();
  cluster_->PatchProvider(ProviderType::kInfrastructure, "small", "small", {{"spec", {{"version", "v1.0.1"}}}});
  proxy_->CutAllConnections();
  EXPECT_TRUE(kube::Eventually([&] {
    return GetString(cluster_->Get("ConfigMap", "small", "small-config").json(), {"data", "version"}) == "v1.0.1";
  }));
  ASSERT_TRUE(cluster_->AwaitReady(ProviderType::kInfrastructure, "small", "small"));
}

// F3: the API server goes and comes back under the operator. (How often it is asked meanwhile: kube/client's tests.)
TEST_F(Survival, TheApiServerRestarts) {
  StartOperator({"--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=100s"});
  ASSERT_TRUE(cluster_->InstallCore("v1.12.0"));
  cluster_->CreateNamespace("small");
  StoreSmallRelease(*cluster_, "small", "small", "v1.0.0");
  ASSERT_TRUE(cluster_->plane().StopApiServer().ok());
  ASSERT_TRUE(cluster_->plane().StartApiServer().ok());
  cluster_->ApplyProvider(ProviderType::kInfrastructure, "small", "small", SmallSpec("small", "v1.0.0"));
  ASSERT_TRUE(cluster_->AwaitReady(ProviderType::kInfrastructure, "small", "small"));
  EXPECT_TRUE(operator_->running());
}

// U7: killed in the middle of an install, at several points; the next one ends in the same state.
TEST_F(Survival, KilledInTheMiddle) {
  cluster_->CreateNamespace("capi-system");
  auto core = GetRelease("cluster-api", "v1.12.0");
  cluster_->StoreRelease("capi-system", core);
  cluster_->ApplyProvider(ProviderType::kCore, "capi-system", "cluster-api", SelectorSpec(core));
  for (int writes : {1, 3, 9, 20}) {
    std::atomic<int> seen = 0;
    StartOperator(
        {"--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=1s"});
    proxy_->SetFaults([&](const kube::ProxyRequest& request) -> kube::Fault {
      bool ours = request.method == "PATCH" && request.target.find("/events") == std::string::npos;
      if (ours && ++seen >= writes) operator_->Kill();
      return {};
    });
    EXPECT_TRUE(kube::Eventually([&] { return !operator_->running(); }, Seconds(20)) ||
                cluster_->See(ProviderType::kCore, "capi-system", "cluster-api").Status("Ready") == "True");
    proxy_->SetFaults(nullptr);
  }
  StartOperator(
      {"--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=1s"});
  ASSERT_TRUE(cluster_->AwaitReady(ProviderType::kCore, "capi-system", "cluster-api"));
  ExpectInventoryExists(ProviderType::kCore, "capi-system", "cluster-api");
}

// F3: a server that answers 429, 500 and 409, drops and cuts, leads to the same end state.
TEST_F(Survival, AFaultyApiServer) {
  StartOperator();
  // By chance, not by turns: what repeats itself in the same rhythm would meet the same fault for ever. A watch is
  // never done, so none is dropped after that.
  std::mt19937 random(9);
  Mutex mu;
  proxy_->SetFaults([&](const kube::ProxyRequest& request) -> kube::Fault {
    if (request.target.find("/leases") != std::string::npos) return {};
    MutexLock lock(mu);
    switch (random() % 9) {
      case 1: return {.status = 429, .retry_after = "0"};
      case 3: return {.status = 500};
      case 5: return {.drop = true, .after_server = request.target.find("watch=") == std::string::npos};
      case 7: return {.cut_after = 100};
      default: return {};
    }
  });
  cluster_->CreateNamespace("capi-system");
  auto core = GetRelease("cluster-api", "v1.12.0");
  cluster_->StoreRelease("capi-system", core);
  cluster_->ApplyProvider(ProviderType::kCore, "capi-system", "cluster-api", SelectorSpec(core));
  ASSERT_TRUE(cluster_->AwaitReady(ProviderType::kCore, "capi-system", "cluster-api", Seconds(120)));
  ExpectInventoryExists(ProviderType::kCore, "capi-system", "cluster-api");
}

// No leak: install and delete a small provider again and again; memory, descriptors and threads stay where they were.
TEST_F(Survival, TwoHundredCyclesLeakNothing) {
  StartOperator();
  ASSERT_TRUE(cluster_->InstallCore("v1.12.0"));
  cluster_->CreateNamespace("small");
  StoreSmallRelease(*cluster_, "small", "small", "v1.0.0");
  auto cycle = [&] {
    cluster_->ApplyProvider(ProviderType::kInfrastructure, "small", "small", SmallSpec("small", "v1.0.0"));
    bool installed = kube::Eventually([&] {
      return !cluster_->See(ProviderType::kInfrastructure, "small", "small").provider.status.installed_version.empty();
    });
    ASSERT_TRUE(installed);
    cluster_->DeleteProvider(ProviderType::kInfrastructure, "small", "small");
    ASSERT_TRUE(cluster_->AwaitGone(ProviderType::kInfrastructure, "small", "small"));
  };
  const char* given = std::getenv("CAPI_LEAK_CYCLES");
  int cycles = given != nullptr ? std::atoi(given) : 200;
  for (int i = 0; i < cycles / 4; ++i) cycle();  // pools and arenas fill
  size_t memory = operator_->ResidentKiB(), descriptors = operator_->Descriptors(), threads = operator_->Threads();
  for (int i = cycles / 4; i < cycles; ++i) cycle();
  EXPECT_LE(operator_->ResidentKiB(), memory + memory / 10 + 1024);
  EXPECT_LE(operator_->Descriptors(), descriptors + 4);
  EXPECT_LE(operator_->Threads(), threads + 2);
}

}  // namespace
}  // namespace capi::e2e
