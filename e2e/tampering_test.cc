// Hands on what the operator keeps for itself: what it says then, what still runs, and that nothing is lost
// (behaviour.md D1, F1, F4).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/cluster.h"
#include "e2e/operator_process.h"
#include "e2e/variables.h"

namespace capi::e2e {
namespace {

using api::ProviderType;
using ::testing::HasSubstr;

class Tampering : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ReleasesDir().empty()) GTEST_SKIP() << "RELEASES_DIR isn't set";
    cluster_ = std::make_unique<Cluster>(kube::ControlPlane::Shared());
    operator_ = std::make_unique<OperatorProcess>(kube::ControlPlane::Shared().kubeconfig());
    ASSERT_TRUE(cluster_->InstallCore("v1.12.0"));
  }
  void TearDown() override {
    if (cluster_) cluster_->DeleteAllProviders();
  }

  Seen Core() { return cluster_->See(ProviderType::kCore, "capi-system", "cluster-api"); }

  // D1 goes on: an object comes back.
  void SeeKept(const std::string& ns, const std::string& account) {
    auto uid = cluster_->Get("ServiceAccount", ns, account).uid();
    ASSERT_TRUE(cluster_->client().Delete(cluster_->ctx(), kube::Builtin("ServiceAccount"), ns, account).ok());
    EXPECT_TRUE(kube::Eventually([&] {
      auto now = cluster_->client().Get(cluster_->ctx(), kube::Builtin("ServiceAccount"), ns, account);
      return now.ok() && now->uid() != uid;
    })) << account;
  }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<OperatorProcess> operator_;
};

TEST_F(Tampering, TheFinalizerComesBack) {
  cluster_->PatchProvider(ProviderType::kCore, "capi-system", "cluster-api", {{"metadata", {{"finalizers", nullptr}}}});
  EXPECT_TRUE(kube::Eventually([&] { return Core().provider.has_finalizer; }));
}

TEST_F(Tampering, AnUnreadableInventoryStopsEveryWrite) {
  auto inventory = Core().provider.status.inventory;
  auto set = [&](const Json& value) {
    auto patched = cluster_->client().Patch(cluster_->ctx(), api::ResourceOf(ProviderType::kCore), "capi-system",
                                            "cluster-api", kube::PatchType::kMerge,
                                            {{"status", {{"inventory", value}}}}, {.subresource = "status"});
    ASSERT_TRUE(patched.ok()) << patched.error().message;
  };
  Json broken = inventory;
  broken.push_back(broken.front());
  set(broken);
  cluster_->PatchProvider(ProviderType::kCore, "capi-system", "cluster-api",
                          {{"metadata", {{"annotations", {{"test/touch", "1"}}}}}});
  ASSERT_TRUE(cluster_->AwaitReason(ProviderType::kCore, "capi-system", "cluster-api", "Ready", "InvalidInventory"));
  EXPECT_THAT(Core().Message("Ready"), HasSubstr("is there twice"));
  EXPECT_TRUE(cluster_->Exists({"apps", "Deployment", "capi-system", "capi-controller-manager"})) << "it runs on";
  // Removed, it is rebuilt (U11).
  set(nullptr);
  EXPECT_TRUE(cluster_->AwaitReady(ProviderType::kCore, "capi-system", "cluster-api"));
  EXPECT_EQ(Core().provider.status.inventory.size(), inventory.size());
}

TEST_F(Tampering, AMissingSecretStopsNothingThatRuns) {
  auto release = GetRelease("infrastructure-aws", "v2.11.1");
  cluster_->CreateNamespace("capa-system");
  cluster_->StoreRelease("capa-system", release);
  cluster_->StoreSecret("capa-system", "variables", VariablesOf(release));
  Json spec = SelectorSpec(release);
  spec["configSecret"] = {{"name", "variables"}};
  cluster_->ApplyProvider(release.type, "capa-system", "aws", spec);
  ASSERT_TRUE(cluster_->AwaitReady(release.type, "capa-system", "aws"));
  ASSERT_TRUE(cluster_->client().Delete(cluster_->ctx(), kube::Builtin("Secret"), "capa-system", "variables").ok());
  ASSERT_TRUE(cluster_->AwaitReason(release.type, "capa-system", "aws", "PreflightCheckPassed", "SecretNotFound"));
  EXPECT_THAT(cluster_->See(release.type, "capa-system", "aws").Message("Ready"), HasSubstr("create it"));
  SeeKept("capa-system", "capa-controller-manager");
  EXPECT_EQ(cluster_->See(release.type, "capa-system", "aws").Reason("Ready"), "SecretNotFound") << "still said";
  cluster_->StoreSecret("capa-system", "variables", VariablesOf(release));
  EXPECT_TRUE(cluster_->AwaitReady(release.type, "capa-system", "aws"));
}

TEST_F(Tampering, ABrokenReleaseIsRefusedAndWhatRunsIsKept) {
  auto edit = [&](const std::string& components) {
    auto patched = cluster_->client().Patch(
        cluster_->ctx(), kube::Builtin("ConfigMap"), "capi-system", "core-cluster-api-v1.12.0", kube::PatchType::kMerge,
        {{"metadata", {{"annotations", {{"provider.cluster.x-k8s.io/compressed", nullptr}}}}},
         {"binaryData", nullptr},
         {"data", {{"components", components}}}});
    ASSERT_TRUE(patched.ok()) << patched.error().message;
  };
  edit("kind: [unclosed");
  ASSERT_TRUE(cluster_->AwaitReason(ProviderType::kCore, "capi-system", "cluster-api", "ProviderInstalled",
                                    "InvalidComponents"));
  EXPECT_TRUE(cluster_->Exists({"apps", "Deployment", "capi-system", "capi-controller-manager"})) << "it runs on";
  SeeKept("capi-system", "capi-manager");
  EXPECT_EQ(Core().Reason("Ready"), "InvalidComponents") << "still said";
  // Deleted and stored anew as it was, the same release goes on.
  ASSERT_TRUE(cluster_->client()
                  .Delete(cluster_->ctx(), kube::Builtin("ConfigMap"), "capi-system", "core-cluster-api-v1.12.0")
                  .ok());
  cluster_->StoreRelease("capi-system", GetRelease("cluster-api", "v1.12.0"));
  EXPECT_TRUE(cluster_->AwaitReady(ProviderType::kCore, "capi-system", "cluster-api"));
}

// F4: the second one waits for the lease; when the first goes, it takes over.
TEST_F(Tampering, ASecondOperatorWaits) {
  OperatorProcess second(kube::ControlPlane::Shared().kubeconfig());
  SeeKept("capi-system", "capi-manager");
  EXPECT_THAT(second.Log(), ::testing::Not(HasSubstr("restored")));
  EXPECT_THAT(second.Log(), ::testing::Not(HasSubstr("leading")));
  EXPECT_EQ(operator_->Terminate(), 0);
  EXPECT_TRUE(kube::Eventually([&] { return second.Log().find("leading") != std::string::npos; }));
  SeeKept("capi-system", "capi-manager");
  operator_->Restart();
}

}  // namespace
}  // namespace capi::e2e
