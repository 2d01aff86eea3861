// Deletion on a real control plane with the built operator: what stands in its way, what overrides that, and what a
// lost status does to it (behaviour.md X1 to X5, U11).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/cluster.h"
#include "e2e/operator_process.h"
#include "kube/apply/inventory.h"

namespace capi::e2e {
namespace {

using api::ProviderType;
using ::testing::HasSubstr;

constexpr const char* kForce = "operator.cluster.x-k8s.io/force-delete";

class Deletion : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ReleasesDir().empty()) GTEST_SKIP() << "RELEASES_DIR isn't set";
    cluster_ = std::make_unique<Cluster>(kube::ControlPlane::Shared());
    operator_ = std::make_unique<OperatorProcess>(kube::ControlPlane::Shared().kubeconfig());
    ASSERT_TRUE(cluster_->InstallCore("v1.12.0"));
  }
  void TearDown() override {
    if (!cluster_) return;
    for (const auto& [resource, name] : made_)
      (void)cluster_->client().Delete(cluster_->ctx(), resource, "default", name);
    cluster_->DeleteAllProviders();
  }

  void InstallBootstrap() {
    auto release = GetRelease("bootstrap-kubeadm", "v1.12.0");
    cluster_->CreateNamespace("cabpk");
    cluster_->StoreRelease("cabpk", release);
    cluster_->ApplyProvider(release.type, "cabpk", "kubeadm", SelectorSpec(release));
    ASSERT_TRUE(cluster_->AwaitReady(release.type, "cabpk", "kubeadm"));
  }

  void Annotate(ProviderType type, const std::string& ns, const std::string& name, const char* key, const Json& value) {
    cluster_->PatchProvider(type, ns, name, {{"metadata", {{"annotations", {{key, value}}}}}});
  }

  // The webhooks point at pods that kwok only pretends to run: with hands off the provider they can be taken away.
  void WithoutWebhooks(ProviderType type, const std::string& ns, const std::string& name, const std::string& prefix) {
    Annotate(type, ns, name, "cluster.x-k8s.io/paused", "");
    ASSERT_TRUE(cluster_->AwaitReason(type, ns, name, "Paused", "HandsOff"));
    for (const char* kind : {"Mutating", "Validating"}) {
      std::string hook = prefix + (kind[0] == 'M' ? "-mutating" : "-validating") + "-webhook-configuration";
      auto gone = cluster_->client().Delete(cluster_->ctx(), kube::Builtin(kind + std::string("WebhookConfiguration")),
                                            "", hook);
      EXPECT_TRUE(gone.ok()) << gone.error().message;
    }
  }

  // At the version that is stored, so that no webhook has to convert it.
  void Create(const kube::Resource& resource, const std::string& name, Json object) {
    object["apiVersion"] = resource.api_version();
    object["kind"] = resource.kind;
    object["metadata"]["name"] = name;
    object["metadata"]["namespace"] = "default";
    Result<kube::Object> created = Error{};
    ASSERT_TRUE(kube::Eventually([&] {
      created = cluster_->client().Create(cluster_->ctx(), resource, kube::Object(object));
      return created.ok() || created.code() == Code::kAlreadyExists;
    })) << created.error().message;
    made_.emplace_back(resource, name);
  }

  const kube::Resource clusters_{"cluster.x-k8s.io", "v1beta2", "clusters", "Cluster", true, {}, {}};
  const kube::Resource configs_{
      "bootstrap.cluster.x-k8s.io", "v1beta2", "kubeadmconfigs", "KubeadmConfig", true, {}, {}};
  std::vector<std::pair<kube::Resource, std::string>> made_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<OperatorProcess> operator_;
};

// X3: the core waits for the others, and goes on by itself; X4 doesn't need to.
TEST_F(Deletion, TheCoreGoesLast) {
  InstallBootstrap();
  cluster_->DeleteProvider(ProviderType::kCore, "capi-system", "cluster-api");
  ASSERT_TRUE(cluster_->AwaitReason(ProviderType::kCore, "capi-system", "cluster-api", "Ready", "DeletionBlocked"));
  EXPECT_THAT(cluster_->See(ProviderType::kCore, "capi-system", "cluster-api").Message("Ready"),
              HasSubstr("BootstrapProvider/kubeadm"));
  EXPECT_TRUE(cluster_->Exists({"apps", "Deployment", "capi-system", "capi-controller-manager"})) << "it still runs";
  cluster_->DeleteProvider(ProviderType::kBootstrap, "cabpk", "kubeadm");
  EXPECT_TRUE(cluster_->AwaitGone(ProviderType::kBootstrap, "cabpk", "kubeadm"));
  EXPECT_TRUE(cluster_->AwaitGone(ProviderType::kCore, "capi-system", "cluster-api"));
}

// X2: objects of clusters block, others don't; gone, the deletion goes on by itself.
TEST_F(Deletion, WaitsForTheObjectsOfClusters) {
  InstallBootstrap();
  WithoutWebhooks(ProviderType::kBootstrap, "cabpk", "kubeadm", "capi-kubeadm-bootstrap");
  Create(configs_, "of-mine", {{"metadata", {{"labels", {{"cluster.x-k8s.io/cluster-name", "mine"}}}}}});
  Create(configs_, "of-nobody", Json::object());
  cluster_->DeleteProvider(ProviderType::kBootstrap, "cabpk", "kubeadm");
  Annotate(ProviderType::kBootstrap, "cabpk", "kubeadm", "cluster.x-k8s.io/paused", nullptr);
  ASSERT_TRUE(cluster_->AwaitReason(ProviderType::kBootstrap, "cabpk", "kubeadm", "Ready", "InUse"));
  std::string message = cluster_->See(ProviderType::kBootstrap, "cabpk", "kubeadm").Message("Ready");
  EXPECT_THAT(message, HasSubstr("KubeadmConfig default/of-mine (1 in all)"));
  EXPECT_TRUE(cluster_->Exists({"apps", "Deployment", "cabpk", "capi-kubeadm-bootstrap-controller-manager"}));
  ASSERT_TRUE(cluster_->client().Delete(cluster_->ctx(), configs_, "default", "of-mine").ok());
  EXPECT_TRUE(cluster_->AwaitGone(ProviderType::kBootstrap, "cabpk", "kubeadm"));
  EXPECT_TRUE(cluster_->client().Get(cluster_->ctx(), configs_, "default", "of-nobody").ok())
      << "CRDs and objects stay";
}

// X3 and X4: a Cluster blocks the core; the annotation overrides that.
TEST_F(Deletion, ForceOverrides) {
  WithoutWebhooks(ProviderType::kCore, "capi-system", "cluster-api", "capi");
  Create(clusters_, "mine",
         {{"spec", {{"controlPlaneRef", {{"apiGroup", "x.example"}, {"kind", "K"}, {"name", "k"}}}}}});
  cluster_->DeleteProvider(ProviderType::kCore, "capi-system", "cluster-api");
  Annotate(ProviderType::kCore, "capi-system", "cluster-api", "cluster.x-k8s.io/paused", nullptr);
  ASSERT_TRUE(cluster_->AwaitReason(ProviderType::kCore, "capi-system", "cluster-api", "Ready", "DeletionBlocked"));
  EXPECT_THAT(cluster_->See(ProviderType::kCore, "capi-system", "cluster-api").Message("Ready"),
              HasSubstr("Cluster default/mine"));
  Annotate(ProviderType::kCore, "capi-system", "cluster-api", kForce, "true");
  EXPECT_TRUE(cluster_->AwaitGone(ProviderType::kCore, "capi-system", "cluster-api"));
  EXPECT_TRUE(cluster_->client().Get(cluster_->ctx(), clusters_, "default", "mine").ok())
      << "nothing of a user is lost";
}

// X1: an object that somebody else's finalizer keeps is named, and the provider stays until it is gone.
TEST_F(Deletion, WaitsForForeignFinalizers) {
  auto& client = cluster_->client();
  auto set = [&](const Json& finalizers) {
    auto patched = client.Patch(cluster_->ctx(), kube::Builtin("Service"), "capi-system", "capi-webhook-service",
                                kube::PatchType::kMerge, {{"metadata", {{"finalizers", finalizers}}}});
    ASSERT_TRUE(patched.ok()) << patched.error().message;
  };
  set(Json::array({"test.example/stays"}));
  cluster_->DeleteProvider(ProviderType::kCore, "capi-system", "cluster-api");
  ASSERT_TRUE(kube::Eventually([&] {
    std::string message = cluster_->See(ProviderType::kCore, "capi-system", "cluster-api").Message("Ready");
    return message.find("Service/capi-system/capi-webhook-service (finalizer test.example/stays)") != message.npos;
  })) << cluster_->See(ProviderType::kCore, "capi-system", "cluster-api").Describe();
  EXPECT_FALSE(cluster_->Exists({"apps", "Deployment", "capi-system", "capi-controller-manager"}));
  set(Json::array());
  EXPECT_TRUE(cluster_->AwaitGone(ProviderType::kCore, "capi-system", "cluster-api"));
}

// X5: the Namespace goes, the provider with it, and what is cluster-scoped is removed.
TEST_F(Deletion, ANamespaceThatGoesTakesTheProviderWithIt) {
  InstallBootstrap();
  auto inventory =
      kube::Inventory::Parse(cluster_->See(ProviderType::kBootstrap, "cabpk", "kubeadm").provider.status.inventory);
  ASSERT_TRUE(inventory.ok());
  WithoutWebhooks(ProviderType::kBootstrap, "cabpk", "kubeadm", "capi-kubeadm-bootstrap");
  Create(configs_, "of-mine", {{"metadata", {{"labels", {{"cluster.x-k8s.io/cluster-name", "mine"}}}}}});
  Annotate(ProviderType::kBootstrap, "cabpk", "kubeadm", "cluster.x-k8s.io/paused", nullptr);
  cluster_->DeleteNamespace("cabpk");
  ASSERT_TRUE(cluster_->AwaitGone(ProviderType::kBootstrap, "cabpk", "kubeadm"));
  EXPECT_TRUE(kube::Eventually([&] { return !cluster_->Exists({"", "Namespace", "", "cabpk"}); }, Seconds(60)));
  for (const auto& item : inventory->entries()) {
    bool crd = item.first.kind == "CustomResourceDefinition";
    EXPECT_EQ(cluster_->Exists(item.first, item.second.version), crd) << item.first.ToString();
  }
}

// U11: without its status a provider finds its objects by their labels, and prunes nothing in that pass.
TEST_F(Deletion, ALostStatusIsRebuilt) {
  auto before = cluster_->See(ProviderType::kCore, "capi-system", "cluster-api").provider.status;
  auto uid = cluster_->Get("Deployment", "capi-system", "capi-controller-manager").uid();
  // An object of ours that the release doesn't have.
  kube::Object extra(
      Json{{"apiVersion", "v1"},
           {"kind", "ConfigMap"},
           {"metadata",
            {{"name", "extra"},
             {"namespace", "capi-system"},
             {"labels", {{"cluster.x-k8s.io/provider", "cluster-api"}, {"clusterctl.cluster.x-k8s.io", ""}}}}}});
  ASSERT_TRUE(cluster_->client()
                  .Apply(cluster_->ctx(), kube::Builtin("ConfigMap"), extra, {.field_manager = "capi-operator"})
                  .ok());
  auto cleared =
      cluster_->client().Patch(cluster_->ctx(), api::ResourceOf(ProviderType::kCore), "capi-system", "cluster-api",
                               kube::PatchType::kMerge, {{"status", nullptr}}, {.subresource = "status"});
  ASSERT_TRUE(cleared.ok()) << cleared.error().message;
  api::ProviderStatus after;
  ASSERT_TRUE(kube::Eventually([&] {
    after = cluster_->See(ProviderType::kCore, "capi-system", "cluster-api").provider.status;
    return after.applied == before.applied;
  }));
  auto was = kube::Inventory::Parse(before.inventory), is = kube::Inventory::Parse(after.inventory);
  ASSERT_TRUE(was.ok() && is.ok());
  EXPECT_EQ(is->size(), was->size() + 1);
  for (const auto& item : was->entries()) EXPECT_TRUE(is->Contains(item.first)) << item.first.ToString();
  EXPECT_TRUE(cluster_->AwaitReady(ProviderType::kCore, "capi-system", "cluster-api"));
  EXPECT_TRUE(cluster_->Exists(extra.id())) << "nothing is pruned";
  EXPECT_EQ(cluster_->Get("Deployment", "capi-system", "capi-controller-manager").uid(), uid) << "nothing restarts";
  cluster_->DeleteProvider(ProviderType::kCore, "capi-system", "cluster-api");
  ASSERT_TRUE(cluster_->AwaitGone(ProviderType::kCore, "capi-system", "cluster-api"));
  EXPECT_FALSE(cluster_->Exists(extra.id())) << "what is known to be ours goes with the provider";
}

}  // namespace
}  // namespace capi::e2e
