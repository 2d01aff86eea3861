// What a user does with Provider objects, on a real control plane with the built operator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/cluster.h"
#include "e2e/operator_process.h"
#include "kube/apply/inventory.h"

namespace capi::e2e {
namespace {

using api::ProviderType;
using ::testing::HasSubstr;

class Lifecycle : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ReleasesDir().empty()) GTEST_SKIP() << "RELEASES_DIR isn't set";
    cluster_ = std::make_unique<Cluster>(kube::ControlPlane::Shared());
    operator_ = std::make_unique<OperatorProcess>(kube::ControlPlane::Shared().kubeconfig());
  }
  void TearDown() override {
    if (!cluster_) return;
    cluster_->DeleteAllProviders();
  }

  std::string ImageOf(const std::string& ns, const std::string& deployment) {
    kube::Object object = cluster_->Get("Deployment", ns, deployment);
    for (const Json& c : *Find(object.json(), {"spec", "template", "spec", "containers"})) {
      if (GetString(c, {"name"}) == "manager") return GetString(c, {"image"});
    }
    return "";
  }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<OperatorProcess> operator_;
};

// The proposal's air-gapped example: two versions under one label, a Secret, a selector (I6, M1: the peer fails here).
TEST_F(Lifecycle, TwoVersionsUnderOneSelector) {
  ASSERT_TRUE(cluster_->InstallCore("v1.10.4"));
  cluster_->CreateNamespace("capa-system");
  std::map<std::string, std::string> labels = {{"provider-components", "aws"}};
  auto older = GetRelease("infrastructure-aws", "v2.0.2"), newer = GetRelease("infrastructure-aws", "v2.11.1");
  cluster_->StoreRelease("capa-system", older, labels, "v2.0.2");
  cluster_->StoreRelease("capa-system", newer, labels, "v2.11.1");
  cluster_->StoreSecret("capa-system", "aws-variables", {{"AWS_B64ENCODED_CREDENTIALS", "dGVzdA=="}});
  Json spec = {{"version", "v2.0.2"},
               {"configSecret", {{"name", "aws-variables"}}},
               {"fetchConfig", {{"selector", {{"matchLabels", labels}}}}}};
  cluster_->ApplyProvider(ProviderType::kInfrastructure, "capa-system", "aws", spec);
  ASSERT_TRUE(cluster_->AwaitReady(ProviderType::kInfrastructure, "capa-system", "aws"));
  EXPECT_EQ(cluster_->See(ProviderType::kInfrastructure, "capa-system", "aws").provider.status.installed_version,
            "v2.0.2");
  EXPECT_THAT(ImageOf("capa-system", "capa-controller-manager"), HasSubstr(":v2.0.2"));

  // U1, U4: the other version of the two; what it no longer has is removed.
  cluster_->PatchProvider(ProviderType::kInfrastructure, "capa-system", "aws", {{"spec", {{"version", "v2.11.1"}}}});
  ASSERT_TRUE(cluster_->AwaitReady(ProviderType::kInfrastructure, "capa-system", "aws"));
  Seen seen = cluster_->See(ProviderType::kInfrastructure, "capa-system", "aws");
  EXPECT_EQ(seen.provider.status.installed_version, "v2.11.1");
  EXPECT_EQ(seen.Status("ProviderUpgraded"), "True");
  EXPECT_THAT(ImageOf("capa-system", "capa-controller-manager"), HasSubstr(":v2.11.1"));
}

// I3, I6: no version given: the newest under the selector, and it is written into the spec.
TEST_F(Lifecycle, PicksTheLatestAndWritesIt) {
  auto core = GetRelease("cluster-api", "v1.11.0");
  cluster_->CreateNamespace("capi-system");
  cluster_->StoreRelease("capi-system", core);
  cluster_->StoreRelease("capi-system", GetRelease("cluster-api", "v1.10.4"));
  Json spec = SelectorSpec(core);
  spec.erase("version");
  cluster_->ApplyProvider(ProviderType::kCore, "capi-system", "cluster-api", spec);
  ASSERT_TRUE(cluster_->AwaitReady(ProviderType::kCore, "capi-system", "cluster-api"));
  Seen seen = cluster_->See(ProviderType::kCore, "capi-system", "cluster-api");
  EXPECT_EQ(seen.provider.status.installed_version, "v1.11.0");
  auto object =
      cluster_->client().Get(cluster_->ctx(), api::ResourceOf(ProviderType::kCore), "capi-system", "cluster-api");
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(GetString(object->json(), {"spec", "version"}), "v1.11.0");
}

// X1: what the provider brought goes; CRDs, Namespaces and users' objects stay.
TEST_F(Lifecycle, DeletionKeepsCrdsAndNamespaces) {
  ASSERT_TRUE(cluster_->InstallCore("v1.12.0"));
  Seen seen = cluster_->See(ProviderType::kCore, "capi-system", "cluster-api");
  auto inventory = kube::Inventory::Parse(seen.provider.status.inventory);
  ASSERT_TRUE(inventory.ok());
  cluster_->StoreConfigMap("capi-system", "users-own", {{"cluster.x-k8s.io/provider", "cluster-api"}}, {{"a", "b"}});
  cluster_->DeleteProvider(ProviderType::kCore, "capi-system", "cluster-api");
  ASSERT_TRUE(cluster_->AwaitGone(ProviderType::kCore, "capi-system", "cluster-api"));
  size_t crds = 0;
  for (const auto& item : inventory->entries()) {
    const kube::ObjectId& id = item.first;
    const std::string& version = item.second.version;
    bool crd = id.kind == "CustomResourceDefinition";
    crds += crd ? 1 : 0;
    EXPECT_TRUE(kube::Eventually([&] { return cluster_->Exists(id, version) == crd; }, Seconds(10))) << id.ToString();
  }
  EXPECT_EQ(crds, 13u);
  EXPECT_TRUE(cluster_->Exists({"", "Namespace", "", "capi-system"}));
  EXPECT_TRUE(cluster_->Exists({"", "ConfigMap", "capi-system", "users-own"})) << "not in the inventory, not ours";
}

// X1: with the annotation the CRDs go too, but not while objects of them exist.
TEST_F(Lifecycle, DeletionOfCrdsWaitsForTheirObjects) {
  ASSERT_TRUE(cluster_->InstallCore("v1.12.0"));
  cluster_->CreateNamespace("default");
  // The webhook configurations point at a pod that kwok only pretends to run: hands off, so that they stay away (P4).
  auto hands_off = [&](const Json& value) {
    cluster_->PatchProvider(ProviderType::kCore, "capi-system", "cluster-api",
                            {{"metadata", {{"annotations", {{"cluster.x-k8s.io/paused", value}}}}}});
  };
  hands_off("");
  ASSERT_TRUE(cluster_->AwaitReason(ProviderType::kCore, "capi-system", "cluster-api", "Paused", "HandsOff"));
  for (const char* kind : {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}) {
    std::string name = kind[0] == 'M' ? "capi-mutating-webhook-configuration" : "capi-validating-webhook-configuration";
    EXPECT_TRUE(cluster_->client().Delete(cluster_->ctx(), kube::Builtin(kind), "", name).ok());
  }
  kube::Object set(Json{{"apiVersion", "addons.cluster.x-k8s.io/v1beta2"},
                        {"kind", "ClusterResourceSet"},
                        {"metadata", {{"name", "mine"}, {"namespace", "default"}}},
                        {"spec",
                         {{"clusterSelector", {{"matchLabels", {{"a", "b"}}}}},
                          {"resources", Json::array({{{"kind", "Secret"}, {"name", "s"}}})}}}});
  kube::Resource sets{"addons.cluster.x-k8s.io", "v1beta2", "clusterresourcesets", "ClusterResourceSet", true, {}, {}};
  ASSERT_TRUE(kube::Eventually([&] {
    auto created = cluster_->client().Create(cluster_->ctx(), sets, set);
    return created.ok() || created.code() == Code::kAlreadyExists;
  }));
  cluster_->PatchProvider(ProviderType::kCore, "capi-system", "cluster-api",
                          {{"metadata", {{"annotations", {{"operator.cluster.x-k8s.io/delete-crds", "true"}}}}}});
  cluster_->DeleteProvider(ProviderType::kCore, "capi-system", "cluster-api");
  hands_off(nullptr);
  ASSERT_TRUE(cluster_->AwaitReason(ProviderType::kCore, "capi-system", "cluster-api", "Ready", "DeletionBlocked"));
  EXPECT_THAT(cluster_->See(ProviderType::kCore, "capi-system", "cluster-api").Message("Ready"),
              HasSubstr("ClusterResourceSet default/mine"));
  ASSERT_TRUE(cluster_->client().Delete(cluster_->ctx(), sets, "default", "mine").ok());
  // Any change wakes the provider; without one it looks again by itself.
  cluster_->PatchProvider(ProviderType::kCore, "capi-system", "cluster-api",
                          {{"metadata", {{"annotations", {{"test/touch", "1"}}}}}});
  ASSERT_TRUE(cluster_->AwaitGone(ProviderType::kCore, "capi-system", "cluster-api"));
  // The API server takes a CRD away in its own time.
  EXPECT_TRUE(kube::Eventually([&] {
    return !cluster_->Exists({"apiextensions.k8s.io", "CustomResourceDefinition", "", "clusters.cluster.x-k8s.io"});
  }));
}

// P4: hands off while the annotation is there.
TEST_F(Lifecycle, HandsOffWritesNothing) {
  ASSERT_TRUE(cluster_->InstallCore("v1.12.0"));
  cluster_->PatchProvider(ProviderType::kCore, "capi-system", "cluster-api",
                          {{"metadata", {{"annotations", {{"cluster.x-k8s.io/paused", ""}}}}}});
  ASSERT_TRUE(cluster_->AwaitReason(ProviderType::kCore, "capi-system", "cluster-api", "Paused", "HandsOff"));
  cluster_->PatchProvider(ProviderType::kCore, "capi-system", "cluster-api",
                          {{"spec", {{"deployment", {{"replicas", 3}}}}}});
  kube::Object before = cluster_->Get("Deployment", "capi-system", "capi-controller-manager");
  cluster_->PatchProvider(ProviderType::kCore, "capi-system", "cluster-api",
                          {{"metadata", {{"annotations", {{"cluster.x-k8s.io/paused", nullptr}}}}}});
  EXPECT_EQ(GetInt(before.json(), {"spec", "replicas"}), 1);
  EXPECT_TRUE(kube::Eventually([&] {
    kube::Object now = cluster_->Get("Deployment", "capi-system", "capi-controller-manager");
    return GetInt(now.json(), {"spec", "replicas"}) == 3;
  })) << "it goes on when the annotation goes";
}

// An object written for the peer works unchanged: namespaces of its own, overrides, image.
TEST_F(Lifecycle, OverridesReachTheDeployment) {
  auto core = GetRelease("cluster-api", "v1.12.0");
  cluster_->CreateNamespace("my-core");
  cluster_->StoreRelease("my-core", core);
  Json spec = SelectorSpec(core);
  spec["manager"] = {{"featureGates", {{"MachinePool", false}}}, {"verbosity", 5}};
  spec["deployment"] = {{"replicas", 2},
                        {"containers", Json::array({{{"name", "manager"}, {"imageUrl", "registry.example/capi:v9"}}})}};
  cluster_->ApplyProvider(ProviderType::kCore, "my-core", "cluster-api", spec);
  ASSERT_TRUE(cluster_->AwaitReady(ProviderType::kCore, "my-core", "cluster-api"));
  EXPECT_EQ(ImageOf("my-core", "capi-controller-manager"), "registry.example/capi:v9");
  kube::Object deployment = cluster_->Get("Deployment", "my-core", "capi-controller-manager");
  EXPECT_EQ(GetInt(deployment.json(), {"status", "availableReplicas"}), 2);
  std::string text = ToJsonText(deployment.json());
  EXPECT_THAT(text, HasSubstr("--v=5"));
  EXPECT_THAT(text, HasSubstr("MachinePool=false"));
  EXPECT_FALSE(deployment.has_finalizer("anything"));
  EXPECT_EQ(Find(deployment.json(), {"metadata", "ownerReferences"}), nullptr) << "I14";
}

}  // namespace
}  // namespace capi::e2e
