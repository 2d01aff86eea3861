// What a user does with Provider objects, on a real control plane with the built operator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/support/managed_cluster.h"

namespace capi::e2e {
namespace {

using api::ProviderType;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class Lifecycle : public ManagedCluster {
 protected:
  Json ContainerOf(const std::string& ns, const std::string& deployment) {
    kube::Object object = cluster_->Get("Deployment", ns, deployment);
    for (const Json& c : *Find(object.json(), {"spec", "template", "spec", "containers"})) {
      if (GetString(c, {"name"}) == "manager") return c;
    }
    return Json::object();
  }
  std::string ImageOf(const std::string& ns, const std::string& deployment) {
    return GetString(ContainerOf(ns, deployment), {"image"});
  }
  static std::set<std::string> CrdsIn(const kube::Inventory& inventory) {
    std::set<std::string> names;
    for (const auto& [id, entry] : inventory.entries()) {
      if (id.kind == "CustomResourceDefinition") names.insert(id.name);
    }
    return names;
  }
};

// I6, I7: the proposal's air-gapped example: two versions under one label, a Secret, a selector. (The peer fails here.)
TEST_F(Lifecycle, TwoVersionsUnderOneSelector) {
  CAPI_NEED_RELEASES("cluster-api/v1.10.4", "infrastructure-aws/v2.0.2", "infrastructure-aws/v2.11.1");
  ASSERT_TRUE(Install(kCore, "v1.10.4"));
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
  ASSERT_TRUE(AwaitReady(kAws));
  EXPECT_EQ(See(kAws).provider.status.installed_version, "v2.0.2");
  EXPECT_THAT(ImageOf("capa-system", "capa-controller-manager"), HasSubstr(":v2.0.2"));

  // U1, U4: the other version of the two; what it no longer has is removed.
  const kube::Inventory before = InventoryOf(kAws);
  PatchSpec(kAws, {{"version", "v2.11.1"}});
  ASSERT_TRUE(AwaitReady(kAws));
  Seen seen = See(kAws);
  EXPECT_EQ(seen.provider.status.installed_version, "v2.11.1");
  EXPECT_EQ(seen.Status("ProviderUpgraded"), "True");
  EXPECT_THAT(ImageOf("capa-system", "capa-controller-manager"), HasSubstr(":v2.11.1"));
  ASSERT_TRUE(Eventually([&] { return !InventoryOf(kAws).has_stale(); })) << "all is pruned";
  const kube::Inventory after = InventoryOf(kAws);
  for (const auto& [id, entry] : before.entries()) {
    bool stays = after.Contains(id) || id.kind == "CustomResourceDefinition";
    EXPECT_EQ(cluster_->Exists(id), stays) << id.ToString();
  }
}

// I3, I6: no version given: the newest under the selector, and it is written into the spec.
TEST_F(Lifecycle, PicksTheLatestAndWritesIt) {
  CAPI_NEED_RELEASES("cluster-api/v1.10.4", "cluster-api/v1.11.0");
  std::map<std::string, std::string> labels = {{"provider-components", "core"}};
  cluster_->CreateNamespace("capi-system");
  for (const char* version : {"v1.11.0", "v1.10.4"}) {
    cluster_->StoreRelease("capi-system", GetRelease("cluster-api", version), labels, version);
  }
  Json spec = {{"fetchConfig", {{"selector", {{"matchLabels", labels}}}}}};
  cluster_->ApplyProvider(ProviderType::kCore, "capi-system", "cluster-api", spec);
  ASSERT_TRUE(AwaitReady(kCore));
  Seen seen = See(kCore);
  EXPECT_EQ(seen.provider.status.installed_version, "v1.11.0");
  auto object =
      cluster_->client().Get(cluster_->ctx(), api::ResourceOf(ProviderType::kCore), "capi-system", "cluster-api");
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(GetString(object->json(), {"spec", "version"}), "v1.11.0");
}

// X1: what the provider brought goes; CRDs, Namespaces and users' objects stay.
TEST_F(Lifecycle, DeletionKeepsCrdsAndNamespaces) {
  CAPI_NEED_RELEASES("cluster-api/v1.12.0");
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  const kube::Inventory inventory = InventoryOf(kCore);
  EXPECT_EQ(CrdsIn(inventory), CrdsOf(GetRelease("cluster-api", "v1.12.0")));
  EXPECT_FALSE(CrdsIn(inventory).empty());
  cluster_->StoreConfigMap("capi-system", "users-own", {{"cluster.x-k8s.io/provider", "cluster-api"}}, {{"a", "b"}});
  Delete(kCore);
  ASSERT_TRUE(AwaitGone(kCore));
  for (const auto& item : inventory.entries()) {
    const kube::ObjectId& id = item.first;
    const std::string& version = item.second.version;
    bool crd = id.kind == "CustomResourceDefinition";
    EXPECT_TRUE(Eventually([&] { return cluster_->Exists(id, version) == crd; }, Seconds(10))) << id.ToString();
  }
  EXPECT_TRUE(cluster_->Exists({"", "Namespace", "", "capi-system"}));
  EXPECT_TRUE(cluster_->Exists({"", "ConfigMap", "capi-system", "users-own"})) << "not in the inventory, not ours";
}

// X1: with the annotation the CRDs go too, but not while objects of them exist.
TEST_F(Lifecycle, DeletionOfCrdsWaitsForTheirObjects) {
  CAPI_NEED_RELEASES("cluster-api/v1.12.0");
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  cluster_->CreateNamespace("default");
  WithoutWebhooks(kCore);
  kube::Object set(Json{{"apiVersion", "addons.cluster.x-k8s.io/v1beta2"},
                        {"kind", "ClusterResourceSet"},
                        {"metadata", {{"name", "mine"}, {"namespace", "default"}}},
                        {"spec",
                         {{"clusterSelector", {{"matchLabels", {{"a", "b"}}}}},
                          {"resources", Json::array({{{"kind", "Secret"}, {"name", "s"}}})}}}});
  kube::Resource sets{.group = "addons.cluster.x-k8s.io",
                      .version = "v1beta2",
                      .plural = "clusterresourcesets",
                      .kind = "ClusterResourceSet"};
  ASSERT_TRUE(Eventually([&] {
    auto created = cluster_->client().Create(cluster_->ctx(), sets, set);
    return created.ok() || created.code() == Code::kAlreadyExists;
  }));
  Annotate(kCore, "operator.cluster.x-k8s.io/delete-crds", "true");
  Delete(kCore);
  HandsOn(kCore);
  ASSERT_TRUE(AwaitReason(kCore, "Ready", "DeletionBlocked"));
  EXPECT_THAT(See(kCore).Message("Ready"), HasSubstr("ClusterResourceSet default/mine"));
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_EQ(CrdsIn(InventoryOf(kCore)), CrdsOf(GetRelease("cluster-api", "v1.12.0")));
  for (const std::string& crd : CrdsOf(GetRelease("cluster-api", "v1.12.0"))) {
    EXPECT_FALSE(cluster_->Get("CustomResourceDefinition", "", crd).deleting()) << crd;
  }
  ASSERT_TRUE(cluster_->client().Delete(cluster_->ctx(), sets, "default", "mine").ok());
  // Any change wakes the provider; without one it looks again by itself.
  Annotate(kCore, "test/touch", "1");
  ASSERT_TRUE(AwaitGone(kCore));
  // The API server takes a CRD away in its own time.
  for (const std::string& crd : CrdsOf(GetRelease("cluster-api", "v1.12.0"))) {
    const kube::ObjectId id{"apiextensions.k8s.io", "CustomResourceDefinition", "", crd};
    EXPECT_TRUE(Eventually([&] { return !cluster_->Exists(id); })) << crd;
  }
}

// P4: hands off while the annotation is there: a pass that sees another spec writes nothing.
TEST_F(Lifecycle, HandsOffWritesNothing) {
  CAPI_NEED_RELEASES("cluster-api/v1.12.0");
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  ASSERT_TRUE(HandsOff(kCore));
  const auto before = Versions(kCore);
  PatchSpec(kCore, {{"deployment", {{"replicas", 3}}}});
  ASSERT_TRUE(AwaitPassByEdit(kCore));
  EXPECT_EQ(Versions(kCore), before);
  EXPECT_EQ(GetInt(Deployment(kCore).json(), {"spec", "replicas"}), 1);
  HandsOn(kCore);
  EXPECT_TRUE(Eventually([&] {
    return GetInt(Deployment(kCore).json(), {"spec", "replicas"}) == 3;
  })) << "it goes on when the annotation goes";
}

// I8, I9, I14: an object written for the peer works unchanged: a Namespace of its own, overrides, image.
TEST_F(Lifecycle, OverridesReachTheDeployment) {
  CAPI_NEED_RELEASES("cluster-api/v1.12.0");
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
  auto arguments = ContainerOf("my-core", "capi-controller-manager").at("args").get<std::vector<std::string>>();
  EXPECT_THAT(arguments, Contains("--v=5"));
  EXPECT_THAT(arguments, Contains(AllOf(HasSubstr("--feature-gates="), HasSubstr("MachinePool=false"))));
  EXPECT_EQ(Find(deployment.json(), {"metadata", "finalizers"}), nullptr);
  EXPECT_EQ(Find(deployment.json(), {"metadata", "ownerReferences"}), nullptr);
}

}  // namespace
}  // namespace capi::e2e
