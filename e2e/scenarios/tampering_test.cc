// Hands on what the operator keeps for itself: what it says then, what still runs, and that nothing is lost
// (behaviour.md D1, F1, F4).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing/variables.h"
#include "e2e/support/managed_cluster.h"

namespace capi::e2e {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class Tampering : public ManagedCore {
 protected:
  // D1 goes on: an object comes back.
  void SeeKept(const std::string& ns, const std::string& account) {
    auto uid = cluster_->Get("ServiceAccount", ns, account).uid();
    ASSERT_TRUE(cluster_->client().Delete(cluster_->ctx(), kube::Builtin("ServiceAccount"), ns, account).ok());
    EXPECT_TRUE(Eventually([&] {
      auto now = cluster_->client().Get(cluster_->ctx(), kube::Builtin("ServiceAccount"), ns, account);
      return now.ok() && now->uid() != uid;
    })) << account;
  }
};

// X1: without it the provider would go and leave all behind.
TEST_F(Tampering, TheFinalizerComesBack) {
  cluster_->PatchProvider(kCore.type, kCore.ns, kCore.name, {{"metadata", {{"finalizers", nullptr}}}});
  EXPECT_TRUE(Eventually([&] { return See(kCore).provider.has_finalizer; }));
}

// F1, U11: what isn't known to be the provider's is neither touched nor taken for nothing.
TEST_F(Tampering, AnUnreadableInventoryStopsEveryWrite) {
  auto inventory = See(kCore).provider.status.inventory;
  Json broken = inventory.Unpack();
  broken.push_back(broken.front());
  PatchStatus(kCore, {{"inventory", broken}});
  Annotate(kCore, "test/touch", "1");
  ASSERT_TRUE(AwaitReason(kCore, "Ready", "InvalidInventory"));
  EXPECT_THAT(See(kCore).Message("Ready"), HasSubstr("is there twice"));
  const kube::ObjectId account{"", "ServiceAccount", "capi-system", "capi-manager"};
  ASSERT_TRUE(cluster_->client().Delete(cluster_->ctx(), kube::Builtin(account.kind), account.ns, account.name).ok());
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_FALSE(cluster_->Exists(account)) << "no write";
  EXPECT_TRUE(cluster_->Exists({"apps", "Deployment", "capi-system", "capi-controller-manager"})) << "it runs on";
  // Removed, it is rebuilt (U11).
  PatchStatus(kCore, {{"inventory", nullptr}});
  EXPECT_TRUE(AwaitReady(kCore));
  EXPECT_EQ(See(kCore).provider.status.inventory.Unpack().size(), inventory.Unpack().size());
  EXPECT_TRUE(cluster_->Exists(account));
}

// D1, F1, I5: what was applied is kept while the next change can't be.
TEST_F(Tampering, AMissingSecretStopsNothingThatRuns) {
  CAPI_NEED_RELEASES("infrastructure-aws/v2.11.1");
  ASSERT_TRUE(Install(kAws, "v2.11.1"));
  ASSERT_TRUE(cluster_->client().Delete(cluster_->ctx(), kube::Builtin("Secret"), kAws.ns, "variables").ok());
  ASSERT_TRUE(AwaitReason(kAws, "PreflightCheckPassed", "SecretNotFound"));
  EXPECT_THAT(See(kAws).Message("Ready"), HasSubstr("create it"));
  SeeKept(kAws.ns, "capa-controller-manager");
  EXPECT_EQ(See(kAws).Reason("Ready"), "SecretNotFound") << "still said";
  cluster_->StoreSecret(kAws.ns, "variables", api::VariablesOf(GetRelease(kAws.Label(), "v2.11.1")));
  EXPECT_TRUE(AwaitReady(kAws));
}

// D1, F2: half a release is none.
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
  ASSERT_TRUE(AwaitReason(kCore, "ProviderInstalled", "InvalidComponents"));
  EXPECT_THAT(See(kCore).Message("ProviderInstalled"), HasSubstr("line 1"));
  EXPECT_TRUE(cluster_->Exists({"apps", "Deployment", "capi-system", "capi-controller-manager"})) << "it runs on";
  SeeKept("capi-system", "capi-manager");
  EXPECT_EQ(See(kCore).Reason("Ready"), "InvalidComponents") << "still said";
  // Deleted and stored anew as it was, the same release goes on.
  ASSERT_TRUE(cluster_->client()
                  .Delete(cluster_->ctx(), kube::Builtin("ConfigMap"), "capi-system", "core-cluster-api-v1.12.0")
                  .ok());
  cluster_->StoreRelease("capi-system", GetRelease("cluster-api", "v1.12.0"));
  EXPECT_TRUE(AwaitReady(kCore));
}

// F4: the second one waits for the lease; when the first goes, it takes over.
TEST_F(Tampering, ASecondOperatorWaits) {
  OperatorProcess second(kube::ControlPlane::Shared().kubeconfig());
  SeeKept("capi-system", "capi-manager");
  EXPECT_TRUE(Eventually([&] { return operator_->Log().find("restored") != std::string::npos; }));
  EXPECT_THAT(second.Log(), ::testing::Not(AnyOf(HasSubstr("restored"), HasSubstr("applied"))));
  EXPECT_THAT(second.Log(), ::testing::Not(HasSubstr("leading")));
  EXPECT_EQ(operator_->Terminate(), 0);
  EXPECT_TRUE(kube::Eventually([&] { return second.Log().find("leading") != std::string::npos; }));
  SeeKept("capi-system", "capi-manager");
  operator_->Restart();
}

}  // namespace
}  // namespace capi::e2e
