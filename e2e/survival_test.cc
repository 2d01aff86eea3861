// The operator against a world that breaks: restarts, cut connections, its own death, things that come late (F3, U7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>

#include "base/mutex.h"
#include "e2e/managed_cluster.h"
#include "e2e/small_release.h"
#include "kube/apply/inventory.h"
#include "kube/testing/fault_proxy.h"

namespace capi::e2e {
namespace {

using api::ProviderType;

const Managed kSmall{ProviderType::kInfrastructure, "small", "small", "small-controller-manager"};

class Survival : public UnmanagedCluster {
 protected:
  void SetUp() override {
    UnmanagedCluster::SetUp();
    if (!cluster_) return;
    auto proxy = kube::FaultProxy::Start(cluster_->plane().config());
    ASSERT_TRUE(proxy.ok()) << proxy.error().message;
    proxy_ = std::move(proxy).value();
    kubeconfig_ = proxy_->WriteKubeconfig(folder_.path());
    cluster_->CreateNamespace(kSmall.ns);
    for (const char* version : {"v1.0.0", "v1.1.0"}) StoreSmall(*cluster_, kSmall, {.version = version});
  }
  void TearDown() override {
    if (proxy_) proxy_->SetFaults(nullptr);
    UnmanagedCluster::TearDown();
  }
  // Behind the proxy.
  void StartOperator(std::vector<std::string> arguments = {}) {
    operator_.reset();
    operator_ = std::make_unique<OperatorProcess>(kubeconfig_, std::move(arguments));
  }
  void CreateSmall(const Json& more = Json::object()) {
    Json spec = {{"version", "v1.0.0"}, {"fetchConfig", SmallSource(kSmall)}};
    spec.update(more);
    cluster_->ApplyProvider(kSmall.type, kSmall.ns, kSmall.name, spec);
  }
  void ExpectInventoryExists(const Managed& provider) {
    Seen seen = See(provider);
    auto inventory = kube::Inventory::Parse(seen.provider.status.inventory);
    ASSERT_TRUE(inventory.ok());
    for (const auto& [id, entry] : inventory->entries()) {
      EXPECT_TRUE(cluster_->Exists(id, entry.version)) << id.ToString();
      EXPECT_FALSE(entry.stale) << id.ToString();
    }
  }

  kube::TemporaryFolder folder_;
  std::unique_ptr<kube::FaultProxy> proxy_;
  std::string kubeconfig_;
};

// I4: the core arrives last, and everyone goes on by itself.
TEST_F(Survival, TheCoreArrivesLast) {
  StartOperator();
  CreateSmall();
  ASSERT_TRUE(AwaitReason(kSmall, "PreflightCheckPassed", "WaitingForCoreProviderReady"));
  EXPECT_FALSE(cluster_->Exists({"", "ServiceAccount", "small", "small-manager"}));
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  ASSERT_TRUE(AwaitReady(kSmall));
}

// F1: the Secret arrives after the Provider.
TEST_F(Survival, TheSecretArrivesLater) {
  StartOperator();
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  CreateSmall({{"configSecret", {{"name", "late"}}}});
  ASSERT_TRUE(AwaitReason(kSmall, "PreflightCheckPassed", "SecretNotFound"));
  cluster_->StoreSecret("small", "late", {{"EXTRA", "came late"}});
  ASSERT_TRUE(AwaitReady(kSmall));
  EXPECT_EQ(GetString(cluster_->Get("ConfigMap", "small", "small-settings").json(), {"data", "extra"}), "came late");
  // U1: a change of the Secret is a change of input.
  cluster_->StoreSecret("small", "late", {{"EXTRA", "changed"}});
  EXPECT_TRUE(kube::Eventually([&] {
    return GetString(cluster_->Get("ConfigMap", "small", "small-settings").json(), {"data", "extra"}) == "changed";
  }));
}

// F3: every connection is cut, again and again.
TEST_F(Survival, ConnectionsAreCut) {
  StartOperator();
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  for (int i = 0; i < 3; ++i) proxy_->CutAllConnections();
  CreateSmall();
  ASSERT_TRUE(AwaitReady(kSmall));
  proxy_->CutAllConnections();
  PatchSpec(kSmall, {{"version", "v1.1.0"}});
  proxy_->CutAllConnections();
  EXPECT_TRUE(kube::Eventually([&] { return See(kSmall).provider.status.installed_version == "v1.1.0"; }));
  ASSERT_TRUE(AwaitReady(kSmall));
}

// F3: the API server goes and comes back under the operator. (How often it is asked meanwhile: kube/client's tests.)
TEST_F(Survival, TheApiServerRestarts) {
  StartOperator({"--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=100s"});
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  ASSERT_TRUE(cluster_->plane().StopApiServer().ok());
  ASSERT_TRUE(cluster_->plane().StartApiServer().ok());
  CreateSmall();
  ASSERT_TRUE(AwaitReady(kSmall));
  EXPECT_TRUE(operator_->running());
}

// U7: killed in the middle of an install, at several points; the next one ends in the same state.
TEST_F(Survival, KilledInTheMiddle) {
  Create(kCore, "v1.12.0");
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
                See(kCore).Status("Ready") == "True");
    proxy_->SetFaults(nullptr);
  }
  StartOperator(
      {"--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=1s"});
  ASSERT_TRUE(AwaitReady(kCore));
  ExpectInventoryExists(kCore);
}

// F3: a server that answers 429, 500 and 409, drops and cuts, leads to the same end state.
TEST_F(Survival, AFaultyApiServer) {
  StartOperator();
  // By chance, not by turns: what repeats itself in the same rhythm would meet the same fault for ever. A watch is
  // never done, so none is dropped after that.
  struct Chance {
    Mutex mu;
    std::mt19937 random{9};
  };
  proxy_->SetFaults([chance = std::make_shared<Chance>()](const kube::ProxyRequest& request) -> kube::Fault {
    if (request.target.find("/leases") != std::string::npos) return {};
    MutexLock lock(chance->mu);
    switch (chance->random() % 9) {
      case 1: return {.status = 429, .retry_after = "0"};
      case 3: return {.status = 500};
      case 5: return {.drop = true, .after_server = request.target.find("watch=") == std::string::npos};
      case 7: return {.cut_after = 100};
      default: return {};
    }
  });
  Create(kCore, "v1.12.0");
  ASSERT_TRUE(AwaitReady(kCore, Seconds(120)));
  ExpectInventoryExists(kCore);
}

// No leak: install and delete a small provider again and again; memory, descriptors and threads stay where they were.
TEST_F(Survival, TwoHundredCyclesLeakNothing) {
  StartOperator();
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  auto cycle = [&] {
    CreateSmall();
    bool installed = kube::Eventually([&] { return !See(kSmall).provider.status.installed_version.empty(); });
    ASSERT_TRUE(installed);
    Delete(kSmall);
    ASSERT_TRUE(AwaitGone(kSmall));
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
