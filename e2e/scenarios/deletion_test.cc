// Deletion on a real control plane with the built operator: what stands in its way, what overrides that, and what a
// lost status does to it (behaviour.md X1 to X5, U11).
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/support/managed_cluster.h"

namespace capi::e2e {
namespace {

using ::testing::HasSubstr;

constexpr const char* kForce = "operator.cluster.x-k8s.io/force-delete";

class Deletion : public ManagedCore {
 protected:
  void TearDown() override {
    // The server needs a moment to see that a CRD has another conversion; what it couldn't convert till then would be
    // in the way of every later test.
    for (const auto& made : made_) {
      Status deleted = Ok();
      EXPECT_TRUE(Eventually([&] {
        deleted = cluster_->client().Delete(cluster_->ctx(), made.first, "default", made.second);
        return !deleted.ok() && deleted.code() == Code::kNotFound;
      })) << made.second
          << ": " << (deleted.ok() ? "it stays" : deleted.error().message);
    }
    ManagedCore::TearDown();
  }

  // At the version that is stored, so that no webhook has to convert it.
  void Make(const kube::Resource& resource, const std::string& name, Json object) {
    object["apiVersion"] = resource.api_version();
    object["kind"] = resource.kind;
    object["metadata"]["name"] = name;
    object["metadata"]["namespace"] = "default";
    Result<kube::Object> created = Error{};
    ASSERT_TRUE(Eventually([&] {
      created = cluster_->client().Create(cluster_->ctx(), resource, kube::Object(object));
      return created.ok() || created.code() == Code::kAlreadyExists;
    })) << created.error().message;
    made_.emplace_back(resource, name);
  }

  // And has it rebuilt.
  void LoseStatus() {
    std::string applied = See(kCore).provider.status.applied;
    PatchStatus(kCore, nullptr);
    EXPECT_TRUE(Eventually([&] { return See(kCore).provider.status.applied == applied; })) << See(kCore).Describe();
  }

  // D1: what is needed is kept, for without it nothing of a cluster could go.
  void ExpectWorkloadComesBack(const Managed& provider) {
    const kube::Resource& deployments = kube::Builtin("Deployment");
    auto live = [&] { return cluster_->client().Get(cluster_->ctx(), deployments, provider.ns, provider.deployment); };
    auto before = live();
    ASSERT_TRUE(before.ok()) << before.error().message;
    ASSERT_TRUE(cluster_->client().Delete(cluster_->ctx(), deployments, provider.ns, provider.deployment).ok());
    EXPECT_TRUE(Eventually([&] {
      auto after = live();
      return after.ok() && after->uid() != before->uid();
    })) << See(provider).Describe();
  }

  const kube::Resource clusters_{
      .group = "cluster.x-k8s.io", .version = "v1beta2", .plural = "clusters", .kind = "Cluster"};
  const kube::Resource configs_{
      .group = "bootstrap.cluster.x-k8s.io", .version = "v1beta2", .plural = "kubeadmconfigs", .kind = "KubeadmConfig"};
  std::vector<std::pair<kube::Resource, std::string>> made_;
};

// X3: the core waits for the others, and goes on by itself; X4 doesn't need to.
TEST_F(Deletion, TheCoreGoesLast) {
  CAPI_NEED_RELEASES("bootstrap-kubeadm/v1.12.0");
  ASSERT_TRUE(Install(kBootstrap, "v1.12.0"));
  Delete(kCore);
  ASSERT_TRUE(AwaitReason(kCore, "Ready", "DeletionBlocked"));
  EXPECT_THAT(See(kCore).Message("Ready"), HasSubstr("BootstrapProvider/kubeadm"));
  const auto before = Versions(kCore);
  ASSERT_TRUE(AwaitPassByEdit(kCore));
  EXPECT_EQ(See(kCore).Reason("Ready"), "DeletionBlocked");
  EXPECT_EQ(Versions(kCore), before) << "it still runs";
  Delete(kBootstrap);
  EXPECT_TRUE(AwaitGone(kBootstrap));
  EXPECT_TRUE(AwaitGone(kCore));
}

// X2, D1: objects of clusters block, others don't; gone, the deletion goes on by itself.
TEST_F(Deletion, WaitsForTheObjectsOfClusters) {
  CAPI_NEED_RELEASES("bootstrap-kubeadm/v1.12.0");
  ASSERT_TRUE(Install(kBootstrap, "v1.12.0"));
  WithoutWebhooks(kBootstrap);
  Make(configs_, "of-mine", {{"metadata", {{"labels", {{"cluster.x-k8s.io/cluster-name", "mine"}}}}}});
  Make(configs_, "of-nobody", Json::object());
  Delete(kBootstrap);
  HandsOn(kBootstrap);
  ASSERT_TRUE(AwaitReason(kBootstrap, "Ready", "InUse"));
  std::string message = See(kBootstrap).Message("Ready");
  EXPECT_THAT(message, HasSubstr("KubeadmConfig default/of-mine;"));
  ExpectWorkloadComesBack(kBootstrap);
  EXPECT_EQ(operator_->Terminate(), 0);  // its successor has nothing at hand that it could restore from
  operator_->Restart();
  ExpectWorkloadComesBack(kBootstrap);
  ASSERT_TRUE(AwaitPassByEdit(kBootstrap));
  EXPECT_EQ(See(kBootstrap).Reason("Ready"), "InUse");
  ASSERT_TRUE(cluster_->client().Delete(cluster_->ctx(), configs_, "default", "of-mine").ok());
  EXPECT_TRUE(AwaitGone(kBootstrap));
  EXPECT_TRUE(cluster_->client().Get(cluster_->ctx(), configs_, "default", "of-nobody").ok())
      << "X1: CRDs and objects stay";
}

// P3, X1, X2, X4: the release has switched the storage version, and nobody converts what is stored at the old one.
TEST_F(Deletion, ReadsAtTheVersionThatObjectsAreStoredAt) {
  CAPI_NEED_RELEASES("bootstrap-kubeadm/v1.10.4", "bootstrap-kubeadm/v1.11.0");
  ASSERT_TRUE(Install(kBootstrap, "v1.10.4"));
  WithoutWebhooks(kBootstrap);
  kube::Resource old = configs_;
  old.version = "v1beta1";
  Make(old, "of-mine", {{"metadata", {{"labels", {{"cluster.x-k8s.io/cluster-name", "mine"}}}}}});
  HandsOn(kBootstrap);
  StoreRelease(kBootstrap, "v1.11.0");
  PatchSpec(kBootstrap, {{"version", "v1.11.0"}});
  ASSERT_TRUE(AwaitReason(kBootstrap, "StorageMigrated", "StorageMigrationFailed", Seconds(60)));
  EXPECT_FALSE(cluster_->client().List(cluster_->ctx(), configs_, "").ok()) << "nobody converts";
  Delete(kBootstrap);
  ASSERT_TRUE(AwaitReason(kBootstrap, "Ready", "InUse"));
  EXPECT_THAT(See(kBootstrap).Message("Ready"), HasSubstr("KubeadmConfig default/of-mine;"));
  Status deleted = cluster_->client().Delete(cluster_->ctx(), old, "default", "of-mine");
  ASSERT_FALSE(deleted.ok()) << "X1: nor deletes it";
  EXPECT_NE(deleted.code(), Code::kNotFound) << deleted.error().message;
  Annotate(kBootstrap, kForce, "true");
  EXPECT_TRUE(AwaitGone(kBootstrap));
  // So that the next test finds none of this.
  Json plain = {{"spec", {{"conversion", {{"strategy", "None"}, {"webhook", nullptr}}}}}};
  auto patched = cluster_->client().Patch(cluster_->ctx(), kube::Builtin("CustomResourceDefinition"), "",
                                          "kubeadmconfigs.bootstrap.cluster.x-k8s.io", kube::PatchType::kMerge, plain);
  EXPECT_TRUE(patched.ok()) << patched.error().message;
  // The server needs a moment to see that.
  EXPECT_TRUE(Eventually([&] { return cluster_->client().Get(cluster_->ctx(), old, "default", "of-mine").ok(); }))
      << "X1: what is a user's stays";
}

// X3 and X4: a Cluster blocks the core; the annotation overrides that.
TEST_F(Deletion, ForceOverrides) {
  WithoutWebhooks(kCore);
  Make(clusters_, "mine", {{"spec", {{"controlPlaneRef", {{"apiGroup", "x.example"}, {"kind", "K"}, {"name", "k"}}}}}});
  Delete(kCore);
  HandsOn(kCore);
  ASSERT_TRUE(AwaitReason(kCore, "Ready", "DeletionBlocked"));
  EXPECT_THAT(See(kCore).Message("Ready"), HasSubstr("Cluster default/mine"));
  Annotate(kCore, kForce, "true");
  EXPECT_TRUE(AwaitGone(kCore));
  EXPECT_TRUE(cluster_->client().Get(cluster_->ctx(), clusters_, "default", "mine").ok())
      << "nothing of a user is lost";
}

// X1: while somebody still converts, what may be stored at older versions is brought to the one that is stored now.
TEST_F(Deletion, LeavesOneStoredVersion) {
  const std::string crd = "clusterclasses.cluster.x-k8s.io";
  auto stored = [&] {
    return *Find(cluster_->Get("CustomResourceDefinition", "", crd).json(), {"status", "storedVersions"});
  };
  ASSERT_TRUE(HandsOff(kCore));
  auto patched = cluster_->client().Patch(
      cluster_->ctx(), kube::Builtin("CustomResourceDefinition"), "", crd, kube::PatchType::kMerge,
      {{"status", {{"storedVersions", {"v1beta1", "v1beta2"}}}}}, {.subresource = "status"});
  ASSERT_TRUE(patched.ok()) << patched.error().message;
  ASSERT_EQ(stored().size(), 2u);
  Delete(kCore);
  HandsOn(kCore);
  ASSERT_TRUE(AwaitGone(kCore));
  EXPECT_EQ(stored(), Json::array({"v1beta2"}));
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
  Delete(kCore);
  ASSERT_TRUE(Eventually([&] {
    std::string message = See(kCore).Message("Ready");
    return message.find("Service/capi-system/capi-webhook-service (finalizer test.example/stays)") != message.npos;
  })) << See(kCore).Describe();
  EXPECT_FALSE(cluster_->Exists({"apps", "Deployment", "capi-system", "capi-controller-manager"}));
  set(Json::array());
  EXPECT_TRUE(AwaitGone(kCore));
}

// X5: the Namespace goes, the provider with it, and what is cluster-scoped is removed.
TEST_F(Deletion, ANamespaceThatGoesTakesTheProviderWithIt) {
  CAPI_NEED_RELEASES("bootstrap-kubeadm/v1.12.0");
  ASSERT_TRUE(Install(kBootstrap, "v1.12.0"));
  const kube::Inventory inventory = InventoryOf(kBootstrap);
  ASSERT_GT(inventory.size(), 0u);
  WithoutWebhooks(kBootstrap);
  Make(configs_, "of-mine", {{"metadata", {{"labels", {{"cluster.x-k8s.io/cluster-name", "mine"}}}}}});
  HandsOn(kBootstrap);
  cluster_->DeleteNamespace(kBootstrap.ns);
  ASSERT_TRUE(AwaitGone(kBootstrap));
  EXPECT_TRUE(Eventually([&] { return !cluster_->Exists({"", "Namespace", "", kBootstrap.ns}); }, Seconds(60)));
  for (const auto& item : inventory.entries()) {
    bool crd = item.first.kind == "CustomResourceDefinition";
    EXPECT_EQ(cluster_->Exists(item.first, item.second.version), crd) << item.first.ToString();
  }
}

// U11: without its status a provider finds its objects by their labels, and prunes nothing in that pass.
TEST_F(Deletion, ALostStatusIsRebuilt) {
  auto before = See(kCore).provider.status;
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
  PatchStatus(kCore, nullptr);
  api::ProviderStatus after;
  ASSERT_TRUE(Eventually([&] {
    after = See(kCore).provider.status;
    return after.applied == before.applied;
  }));
  auto was = kube::Inventory::Parse(before.inventory), is = kube::Inventory::Parse(after.inventory);
  ASSERT_TRUE(was.ok() && is.ok());
  EXPECT_EQ(is->size(), was->size() + 1);
  for (const auto& item : was->entries()) EXPECT_TRUE(is->Contains(item.first)) << item.first.ToString();
  EXPECT_TRUE(AwaitReady(kCore));
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_TRUE(cluster_->Exists(extra.id())) << "nothing is pruned";
  EXPECT_EQ(cluster_->Get("Deployment", "capi-system", "capi-controller-manager").uid(), uid) << "nothing restarts";
  Delete(kCore);
  ASSERT_TRUE(AwaitGone(kCore));
  EXPECT_FALSE(cluster_->Exists(extra.id())) << "what is known to be ours goes with the provider";
}

// Somebody's kind, v1 and v2, with an object `mine` that looks like one of the core's, and a conversion webhook that is
// away: v2 can't be read, and where objects are stored at both, neither can v1.
class Gadgets {
 public:
  enum class Stored { kOld, kBoth };
  Gadgets(Cluster& cluster, Stored stored) : cluster_(cluster) {
    Json schema = {{"openAPIV3Schema", {{"type", "object"}}}};
    Json versions = {{{"name", "v1"}, {"served", true}, {"storage", true}, {"schema", schema}},
                     {{"name", "v2"}, {"served", true}, {"storage", false}, {"schema", schema}}};
    Json names = {{"plural", "gadgets"}, {"singular", "gadget"}, {"kind", "Gadget"}, {"listKind", "GadgetList"}};
    Json spec = {{"group", "test.example"}, {"scope", "Cluster"}, {"names", names}, {"versions", versions}};
    auto made = cluster.client().Create(cluster.ctx(), crds_,
                                        kube::Object(Json{{"apiVersion", "apiextensions.k8s.io/v1"},
                                                          {"kind", "CustomResourceDefinition"},
                                                          {"metadata", {{"name", kName}}},
                                                          {"spec", spec}}));
    EXPECT_TRUE(made.ok()) << made.error().message;
    Make(v1_, "mine");
    if (stored == Stored::kBoth) {
      Patch(Json::array({{{"op", "replace"}, {"path", "/spec/versions/0/storage"}, {"value", false}},
                         {{"op", "replace"}, {"path", "/spec/versions/1/storage"}, {"value", true}}}));
      EXPECT_TRUE(kube::Eventually([&] {
        auto crd = cluster.Get("CustomResourceDefinition", "", kName);
        return Find(crd.json(), {"status", "storedVersions"})->size() == 2;
      })) << "the server sees the switch";
      Make(v2_, "newer");
    }
    Json service = {{"namespace", "default"}, {"name", "nobody"}};
    Convert({{"strategy", "Webhook"},
             {"webhook", {{"clientConfig", {{"service", service}}}, {"conversionReviewVersions", {"v1"}}}}});
    int more = 0;
    auto as_stored = [&] {
      bool old = Lists(v1_), both = stored == Stored::kBoth;
      // The one before was stored at v1 where the server came to the switch later than its status says.
      if (old && both) (void)cluster.client().Create(cluster.ctx(), v2_, New(v2_, fmt::format("newer{}", ++more)));
      return !Lists(v2_) && old != both;
    };
    EXPECT_TRUE(kube::Eventually(as_stored, Seconds(30), Millis(100)));
  }
  ~Gadgets() {
    Convert({{"strategy", "None"}, {"webhook", nullptr}});
    EXPECT_TRUE(kube::Eventually([&] { return Lists(v1_) && Lists(v2_); }));
    EXPECT_TRUE(cluster_.client().Delete(cluster_.ctx(), crds_, "", kName).ok());
    EXPECT_TRUE(kube::Eventually([&] { return !cluster_.Exists({crds_.group, crds_.kind, "", kName}); }));
  }
  static constexpr const char* kName = "gadgets.test.example";

 private:
  bool Lists(const kube::Resource& resource) { return cluster_.client().List(cluster_.ctx(), resource, "").ok(); }
  static kube::Object New(const kube::Resource& resource, const std::string& name) {
    Json labels = {{"cluster.x-k8s.io/provider", "cluster-api"}, {"clusterctl.cluster.x-k8s.io", ""}};
    return kube::Object(Json{{"apiVersion", resource.api_version()},
                             {"kind", "Gadget"},
                             {"metadata", {{"name", name}, {"labels", labels}}}});
  }
  void Make(const kube::Resource& resource, const std::string& name) {
    Result<kube::Object> made = Error{};
    EXPECT_TRUE(kube::Eventually([&] {
      made = cluster_.client().Apply(cluster_.ctx(), resource, New(resource, name), {.field_manager = "capi-operator"});
      return made.ok();
    })) << made.error().message;
  }
  void Patch(const Json& operations) {
    auto patched = cluster_.client().Patch(cluster_.ctx(), crds_, "", kName, kube::PatchType::kJson, operations);
    EXPECT_TRUE(patched.ok()) << patched.error().message;
  }
  void Convert(const Json& conversion) {
    Patch(Json::array({{{"op", "add"}, {"path", "/spec/conversion"}, {"value", conversion}}}));
  }

  const kube::Resource& crds_ = kube::Builtin("CustomResourceDefinition");
  Cluster& cluster_;
  const kube::Resource v1_{
      .group = "test.example", .version = "v1", .plural = "gadgets", .kind = "Gadget", .namespaced = false};
  const kube::Resource v2_{
      .group = "test.example", .version = "v2", .plural = "gadgets", .kind = "Gadget", .namespaced = false};
};

// U11, P3: what can't be read at the version that the server prefers is read at the one where it is stored.
TEST_F(Deletion, ALostStatusIsRebuiltFromStoredVersions) {
  Gadgets gadgets(*cluster_, Gadgets::Stored::kOld);
  auto before = See(kCore).provider.status;
  LoseStatus();
  const kube::Inventory inventory = InventoryOf(kCore);
  EXPECT_EQ(inventory.size(), before.inventory.Unpack().size() + 1);
  const auto* mine = inventory.Find({"test.example", "Gadget", "", "mine"});
  ASSERT_NE(mine, nullptr);
  EXPECT_EQ(mine->version, "v1");
}

// U11: the objects of a kind that nobody can read, be it anybody's, don't stand in the way of an installation. They
// once did, for good. A deletion says what it can't look for.
TEST_F(Deletion, ALostStatusIsRebuiltWithoutWhatNobodyCanRead) {
  Gadgets gadgets(*cluster_, Gadgets::Stored::kBoth);
  auto before = See(kCore).provider.status;
  LoseStatus();
  EXPECT_EQ(See(kCore).provider.status.inventory.Unpack().size(), before.inventory.Unpack().size());

  ASSERT_TRUE(HandsOff(kCore));
  PatchStatus(kCore, nullptr);
  Delete(kCore);
  HandsOn(kCore);
  ASSERT_TRUE(AwaitReason(kCore, "Ready", "DeletionBlocked"));
  EXPECT_THAT(See(kCore).Message("Ready"), HasSubstr(Gadgets::kName));
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_TRUE(cluster_->Exists({"apps", "Deployment", "capi-system", "capi-controller-manager"})) << "nothing is lost";
  Annotate(kCore, kForce, "true");
  ASSERT_TRUE(AwaitGone(kCore));
  EXPECT_FALSE(cluster_->Exists({"apps", "Deployment", "capi-system", "capi-controller-manager"}));
}

}  // namespace
}  // namespace capi::e2e
