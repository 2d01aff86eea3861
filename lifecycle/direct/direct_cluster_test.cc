// L23: providers come, change and go without an operator, on a real control plane.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kube/apply/preview.h"
#include "kube/testing/cert_manager_kinds.h"
#include "kube/testing/control_plane.h"
#include "lifecycle/clusterctl_inventory.h"
#include "lifecycle/direct/install.h"
#include "lifecycle/direct/remove.h"
#include "lifecycle/direct/scale.h"
#include "lifecycle/direct/upgrade.h"
#include "lifecycle/labelled.h"
#include "lifecycle/plan/scale.h"

namespace capi::lifecycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr char kMetadata[] = R"(
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 1, minor: 0, contract: v1beta2}
- {major: 1, minor: 1, contract: v1beta2}
)";

// A provider with a kind of its own. v1.1.0 stores another version, has one ClusterRole less and another ConfigMap key.
std::string Toy(bool newer) {
  return std::string(R"(
apiVersion: v1
kind: Namespace
metadata: {name: toy-system}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: toys.infrastructure.cluster.x-k8s.io}
spec:
  group: infrastructure.cluster.x-k8s.io
  scope: Namespaced
  names: {kind: Toy, plural: toys, singular: toy, listKind: ToyList}
  versions:
  - {name: v1alpha1, served: true, storage: )") +
         (newer ? "false" : "true") +
         R"(, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v1beta1, served: true, storage: )" +
         (newer ? "true" : "false") +
         R"(, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: toy-config, namespace: toy-system}
data: {)" +
         (newer ? "new" : "old") + R"(: "${TOY:=1}"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: toy-)" +
         (newer ? "new" : "old") + R"(-role}
rules: []
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: toy-controller-manager, namespace: toy-system}
spec:
  replicas: 1
  selector: {matchLabels: {app: toy}}
  template:
    metadata: {labels: {app: toy}}
    spec:
      containers: [{name: manager, image: "example.com/toy:)" +
         (newer ? "v1.1.0" : "v1.0.0") + R"("}]
)";
}

// Tests find nothing of each other's.
class Direct : public testing::Test {
 protected:
  void SetUp() override {
    client_ = kube::ControlPlane::Shared().NewClient();
    kube::ApplyYaml(*client_, kube::kCertManagerKinds);
  }
  void TearDown() override {
    auto toys = client_->List(ctx_, kToys, "default");
    for (const kube::Object& toy : toys.ok() ? toys->items : std::vector<kube::Object>()) EndToy(toy.name());
    MustRemove({true, true});
    EXPECT_TRUE(
        kube::Eventually([&] { return Gone("CustomResourceDefinition", "toys.infrastructure.cluster.x-k8s.io"); }));
  }

  DirectRelease Prepared(bool newer) {
    release_.version = *api::Version::Parse(newer ? "v1.1.0" : "v1.0.0");
    release_.metadata = kMetadata;
    release_.components = Toy(newer);
    auto prepared = Prepare(ctx_, *client_, {api::ProviderType::kInfrastructure, "toy", &release_, values_, "", {}});
    EXPECT_TRUE(prepared.ok()) << prepared.error().message;
    return prepared.ok() ? *prepared : DirectRelease{};
  }
  void MustInstall(bool newer = false) {
    auto installed = Install(ctx_, *client_, Prepared(newer));
    ASSERT_TRUE(installed.ok()) << installed.error().message;
  }
  void MustUpgrade(const UpgradeOptions& options = {}) {
    auto upgraded = Upgrade(ctx_, *client_, {Prepared(true)}, options);
    ASSERT_TRUE(upgraded.ok()) << upgraded.error().message;
  }
  void MustRemove(const RemovalScope& scope) {
    auto removal = PlanRemoval(ctx_, *client_, kToy, scope, nullptr);
    ASSERT_TRUE(removal.ok()) << removal.error().message;
    auto removed = Remove(ctx_, *client_, *removal, nullptr);
    ASSERT_TRUE(removed.ok()) << removed.error().message;
  }
  kube::Object Live(std::string_view kind, std::string_view name) {
    const kube::Resource& resource = kube::Builtin(kind);
    auto live = client_->Get(ctx_, resource, resource.namespaced ? "toy-system" : "", name);
    EXPECT_TRUE(live.ok()) << live.error().message;
    return live.ok() ? *live : kube::Object();
  }
  void MakeToy(const std::string& name) {
    kube::ApplyYaml(*client_, "{apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1, kind: Toy, metadata: {name: " +
                                  name + ", namespace: default}}");
  }
  void EndToy(const std::string& name) { EXPECT_TRUE(client_->Delete(ctx_, kToys, "default", name).ok()); }
  // As Cluster API's clusterctl does: by plain requests, in its name.
  void MakeAnew(std::string_view kind, std::string_view name) {
    kube::Object object = Live(kind, name);
    for (const char* field : {"managedFields", "resourceVersion", "uid"}) object.json()["metadata"].erase(field);
    object.json().erase("status");
    ASSERT_TRUE(client_->Delete(ctx_, kube::Builtin(kind), "toy-system", name).ok());
    ASSERT_TRUE(client_->Create(ctx_, kube::Builtin(kind), object, {.field_manager = "clusterctl"}).ok());
  }
  void Scale(int replicas, const kube::WriteOptions& options) {
    Json patch = {{"spec", {{"replicas", replicas}}}};
    auto scaled = client_->Patch(ctx_, kube::Builtin("Deployment"), "toy-system", "toy-controller-manager",
                                 kube::PatchType::kMerge, patch, options);
    ASSERT_TRUE(scaled.ok()) << scaled.error().message;
  }
  std::int64_t Replicas() { return GetInt(Live("Deployment", "toy-controller-manager").json(), {"spec", "replicas"}); }
  bool Gone(std::string_view kind, std::string_view name) {
    const kube::Resource& resource = kube::Builtin(kind);
    auto live = client_->Get(ctx_, resource, resource.namespaced ? "toy-system" : "", name);
    return !live.ok() && live.code() == Code::kNotFound;
  }
  std::string Installed() {
    auto entries = ListEntries(ctx_, *client_);
    EXPECT_TRUE(entries.ok());
    for (const ClusterctlEntry& entry : *entries) {
      if (entry.id == kToy) return entry.version;
    }
    return "";
  }
  std::set<std::string> Labelled() {
    std::set<std::string> out;
    auto all = ListLabelled(ctx_, *client_, kToy);
    EXPECT_TRUE(all.ok()) << all.error().message;
    for (const kube::Object& object : all->items) out.insert(object.id().ToString());
    return out;
  }

  const api::ProviderId kToy{api::ProviderType::kInfrastructure, "toy-system", "toy"};
  const kube::Resource kToys{
      .group = "infrastructure.cluster.x-k8s.io", .version = "v1beta1", .plural = "toys", .kind = "Toy"};
  Context ctx_ = Context{}.WithTimeout(Seconds(120));
  std::unique_ptr<kube::Client> client_;
  api::Release release_;
  templating::Variables values_ = [](const std::string&) { return std::optional<std::string>(); };
};

// The same objects, labels and inventory as Cluster API's clusterctl writes.
TEST_F(Direct, InstallsWithTheEntryOfTheInventory) {
  MustInstall();
  EXPECT_EQ(Installed(), "v1.0.0");
  const kube::Object config = Live("ConfigMap", "toy-config");
  EXPECT_TRUE(config.has_label(api::kLabelClusterctl));
  EXPECT_EQ(config.label(api::kLabelProvider), "infrastructure-toy");
  EXPECT_EQ(GetString(config.json(), {"data", "old"}), "1");
  EXPECT_EQ(GetString(config.json()["metadata"]["managedFields"][0], {"manager"}), "clusterctl");
  EXPECT_TRUE(AwaitAvailable(ctx_, *client_, Prepared(false), Seconds(60)).ok());
  MustInstall();  // what was broken off is completed
  EXPECT_EQ(Installed(), "v1.0.0");
}

// A1c: the fields become the operator's, all of them.
TEST_F(Direct, AnOperatorTakesOverWhatWasInstalled) {
  MustInstall();
  const kube::PreviewOptions options{.field_manager = std::string(api::kFieldManager),
                                     .former = kube::WroteLabel(api::kLabelProvider, kDirectManager),
                                     .owner_group = std::string(api::kGroup)};
  std::vector<kube::Change> failed;
  auto differences = kube::PreviewTakeOver(*client_, ctx_, Prepared(false).manifests, options, failed);
  ASSERT_TRUE(differences.ok()) << differences.error().message;
  EXPECT_TRUE(differences->empty()) << differences->front().id.ToString();
  const kube::Object config = Live("ConfigMap", "toy-config");
  ASSERT_EQ(config.json()["metadata"]["managedFields"].size(), 1U);
  EXPECT_EQ(GetString(config.json()["metadata"]["managedFields"][0], {"manager"}), api::kFieldManager);
  EXPECT_FALSE(ListEntries(ctx_, *client_)->front().ours) << "it isn't the operator's until that has adopted it";
}

TEST_F(Direct, WhatIsMissingIsToldBeforeTheFirstWrite) {
  release_.version = *api::Version::Parse("v1.0.0");
  release_.metadata = kMetadata;
  release_.components = Toy(false) + "---\n{apiVersion: none.example.com/v1, kind: Zebra, metadata: {name: a}}\n";
  auto zebra = Prepare(ctx_, *client_, {api::ProviderType::kInfrastructure, "toy", &release_, values_, "", {}});
  ASSERT_TRUE(zebra.ok());
  auto kinds = CheckKinds(ctx_, *client_, {*zebra});
  ASSERT_FALSE(kinds.ok());
  EXPECT_THAT(kinds.error().message, HasSubstr("none.example.com/v1 Zebra"));
  release_.components = Toy(false) + "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: '${A}${B}'}}\n";
  auto missing = Prepare(ctx_, *client_, {api::ProviderType::kInfrastructure, "toy", &release_, values_, "", {}});
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("[A, B]"));
  release_.version = *api::Version::Parse("v3.0.0");
  auto series = Prepare(ctx_, *client_, {api::ProviderType::kInfrastructure, "toy", &release_, values_, "", {}});
  EXPECT_EQ(series.code(), Code::kFailedPrecondition);
}

// In place: what the new release hasn't any more goes, its CRDs and users' objects stay.
TEST_F(Direct, UpgradesInPlaceAndPrunes) {
  MustInstall();
  MakeToy("mine");
  const std::string uid = Live("Deployment", "toy-controller-manager").uid();
  std::vector<std::string> steps;
  UpgradeOptions options;
  options.on_step = [&](std::string_view what, const Installable&) { steps.emplace_back(what); };
  MustUpgrade(options);
  EXPECT_THAT(steps, ElementsAre("scaling down", "upgrading")) << "the CRD stores another version";
  EXPECT_EQ(Installed(), "v1.1.0");
  EXPECT_TRUE(Gone("ClusterRole", "toy-old-role"));
  EXPECT_FALSE(Gone("ClusterRole", "toy-new-role"));
  const kube::Object deployment = Live("Deployment", "toy-controller-manager");
  EXPECT_EQ(deployment.uid(), uid);
  EXPECT_EQ(GetInt(deployment.json(), {"spec", "replicas"}), 1);
  EXPECT_FALSE(deployment.has_annotation(api::kAnnotationOriginalReplicas));
  const kube::Object config = Live("ConfigMap", "toy-config");
  EXPECT_EQ(Find(config.json(), {"data", "old"}), nullptr) << "a field that the new release hasn't goes too";
  EXPECT_EQ(GetString(config.json(), {"data", "new"}), "1");
  steps.clear();
  MustUpgrade(options);
  EXPECT_THAT(steps, ElementsAre("upgrading")) << "nothing stops where nothing has to";
}

// What clusterctl wrote by plain updates is taken over.
TEST_F(Direct, UpgradesWhatCreateAndPatchWrote) {
  MustInstall();
  MakeAnew("ConfigMap", "toy-config");
  MustUpgrade();
  EXPECT_EQ(Find(Live("ConfigMap", "toy-config").json(), {"data", "old"}), nullptr);
}

// A run that ended between two requests: everything is at zero, and the annotation says what it was.
TEST_F(Direct, AnUpgradeThatWasBrokenOffGoesOn) {
  MustInstall();
  Json down = {{"metadata", {{"annotations", {{std::string(api::kAnnotationOriginalReplicas), "3"}}}}},
               {"spec", {{"replicas", 0}}}};
  ASSERT_TRUE(client_
                  ->Patch(ctx_, kube::Builtin("Deployment"), "toy-system", "toy-controller-manager",
                          kube::PatchType::kMerge, down)
                  .ok());
  MustUpgrade();
  const kube::Object deployment = Live("Deployment", "toy-controller-manager");
  EXPECT_EQ(GetInt(deployment.json(), {"spec", "replicas"}), 3);
  EXPECT_EQ(Installed(), "v1.1.0");
}

// D1: a count that a person or an autoscaler has set stays theirs, whether all goes to zero or not, and whoever
// installed it: what is written while it is at zero must not become part of the apply.
TEST_F(Direct, AnUpgradeKeepsReplicas) {
  MustInstall();
  MakeAnew("Deployment", "toy-controller-manager");
  Scale(3, {.field_manager = "kubectl-edit"});
  MustUpgrade();
  EXPECT_EQ(Replicas(), 3) << "it went to zero, and came back";
  Scale(2, {.field_manager = "autoscaler", .subresource = "scale"});
  MustUpgrade();
  EXPECT_EQ(Replicas(), 2) << "nothing stopped";
  EXPECT_EQ(ScaledBy(Live("Deployment", "toy-controller-manager")), "autoscaler");
  UpgradeOptions options;
  options.contract_changes = true;
  MustUpgrade(options);
  EXPECT_EQ(Replicas(), 2);
  EXPECT_EQ(ScaledBy(Live("Deployment", "toy-controller-manager")), "autoscaler");
}

// What is terminating may still write. Its node doesn't answer, so it doesn't end by itself.
TEST_F(Direct, ScalingDownAwaitsPodsThatTerminate) {
  MustInstall();
  kube::ApplyYaml(*client_, R"(
apiVersion: v1
kind: Pod
metadata:
  name: toy-controller-manager-a-b
  namespace: toy-system
  labels: {app: toy}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: toy-controller-manager-a, uid: none}]
spec: {nodeName: nowhere, containers: [{name: manager, image: example.com/toy}]}
)");
  const std::string pod = "toy-controller-manager-a-b";
  ASSERT_TRUE(client_->Delete(ctx_, kube::Builtin("Pod"), "toy-system", pod).ok());
  UpgradeOptions options;
  options.stop_limit = Seconds(1);
  auto upgraded = Upgrade(ctx_, *client_, {Prepared(true)}, options);
  ASSERT_EQ(upgraded.code(), Code::kDeadlineExceeded);
  EXPECT_THAT(upgraded.error().message, HasSubstr("still waits for pod " + pod + " on node nowhere"));
  EXPECT_EQ(Replicas(), 1) << "nothing was applied, so it comes back";
  EXPECT_EQ(Installed(), "v1.0.0");
  std::set<kube::ObjectId> stopped;
  EXPECT_EQ(ScaleDown(ctx_, *client_, kToy, Seconds(1), stopped).code(), Code::kDeadlineExceeded);
  EXPECT_THAT(stopped, SizeIs(1));
  // Nothing takes away one that has ended; its node may be the one that evicted it.
  ASSERT_TRUE(client_
                  ->Patch(ctx_, kube::Builtin("Pod"), "toy-system", pod, kube::PatchType::kMerge,
                          {{"status", {{"phase", "Failed"}}}}, {.subresource = "status"})
                  .ok());
  stopped.clear();
  auto without = ScaleDown(ctx_, *client_, kToy, Seconds(30), stopped);
  EXPECT_TRUE(without.ok()) << without.error().message;
  EXPECT_THAT(stopped, testing::IsEmpty()) << "it was at zero already";
  auto ended = client_->Raw(ctx_, "DELETE", "/api/v1/namespaces/toy-system/pods/" + pod + "?gracePeriodSeconds=0");
  ASSERT_TRUE(ended.ok()) << ended.error().message;
}

// While nobody converts, the kinds of other providers are read at the version that they are stored at.
TEST_F(Direct, ListsLabelledObjectsOfOthersKindsWithoutAConversion) {
  MustInstall();
  kube::ApplyYaml(*client_, R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: pets.other.cluster.x-k8s.io
  labels: {clusterctl.cluster.x-k8s.io: "", cluster.x-k8s.io/provider: infrastructure-other}
spec:
  group: other.cluster.x-k8s.io
  scope: Namespaced
  names: {kind: Pet, plural: pets, singular: pet, listKind: PetList}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {service: {name: none, namespace: toy-system, path: /convert}}
  versions:
  - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: other.cluster.x-k8s.io/v1beta1
kind: Pet
metadata:
  name: a
  namespace: toy-system
)");
  const std::string pet = "Pet.other.cluster.x-k8s.io/toy-system/a";
  MustUpgrade();
  auto all = ListInNamespace(ctx_, *client_, "toy-system");
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_TRUE(std::any_of(all->begin(), all->end(), [&](const auto& one) { return one.id().ToString() == pet; }));
  const kube::Resource pets{.group = "other.cluster.x-k8s.io", .version = "v1beta1", .plural = "pets", .kind = "Pet"};
  Json labels = {{std::string(api::kLabelClusterctl), ""}, {std::string(api::kLabelProvider), "infrastructure-toy"}};
  ASSERT_TRUE(
      client_->Patch(ctx_, pets, "toy-system", "a", kube::PatchType::kMerge, {{"metadata", {{"labels", labels}}}})
          .ok());
  EXPECT_THAT(Labelled(), testing::Contains(pet));
  EXPECT_TRUE(client_->Delete(ctx_, kube::Builtin("CustomResourceDefinition"), "", "pets.other.cluster.x-k8s.io").ok());
}

// Nothing is changed where a CRD would lose the version at which its objects are stored.
TEST_F(Direct, RefusesWhatWouldLoseObjects) {
  MustInstall();
  DirectRelease next = Prepared(true);
  for (kube::Manifest& manifest : next.manifests) {
    if (manifest.crd_kind != "Toy") continue;
    Json crd = *ParseJson(manifest.text);
    crd["spec"]["versions"].erase(0);
    manifest = kube::ToManifest(kube::Object(std::move(crd)));
  }
  auto upgraded = Upgrade(ctx_, *client_, {next}, {});
  ASSERT_FALSE(upgraded.ok());
  EXPECT_THAT(upgraded.error().message, HasSubstr("unable to upgrade CRD \"toys.infrastructure.cluster.x-k8s.io\""));
  EXPECT_EQ(Installed(), "v1.0.0");
  // By way of the one that has both: objects are brought to the version that stays, then the older one may go.
  MakeToy("mine");
  MustUpgrade();
  upgraded = Upgrade(ctx_, *client_, {next}, {});
  ASSERT_TRUE(upgraded.ok()) << upgraded.error().message;
  const kube::Object crd = Live("CustomResourceDefinition", "toys.infrastructure.cluster.x-k8s.io");
  EXPECT_EQ(crd.json()["status"]["storedVersions"], Json::array({"v1beta1"}));
}

// X1: what came while the rest went isn't lost, and the same call goes on once it is gone.
TEST_F(Direct, CrdsStayWhileThereAreObjects) {
  MustInstall();
  MakeToy("before");
  const RemovalScope scope{true, true};
  auto removal = PlanRemoval(ctx_, *client_, kToy, scope, nullptr);
  ASSERT_TRUE(removal.ok()) << removal.error().message;
  EXPECT_EQ(Remove(ctx_, *client_, *removal, nullptr).code(), Code::kFailedPrecondition);
  EXPECT_FALSE(Gone("Deployment", "toy-controller-manager")) << "nothing was deleted";
  EndToy("before");
  auto meanwhile = [this](const kube::Object& live) {
    if (live.kind() == "Deployment") MakeToy("meanwhile");
    return std::string();
  };
  auto removed = Remove(ctx_, *client_, *removal, meanwhile);
  ASSERT_FALSE(removed.ok());
  EXPECT_THAT(removed.error().message, HasSubstr("toys.infrastructure.cluster.x-k8s.io has objects"));
  EXPECT_TRUE(Gone("Deployment", "toy-controller-manager"));
  EXPECT_EQ(Installed(), "v1.0.0") << "the next run finds it";
  EndToy("meanwhile");
  MustRemove(scope);
  EXPECT_EQ(Installed(), "");
}

// X1: once the webhooks are gone nobody converts what is stored at an older version.
TEST_F(Direct, ObjectsAreBroughtToOneVersionBeforeTheirProviderGoes) {
  MustInstall();
  MakeToy("mine");
  MustUpgrade();
  auto stored = [this] {
    return Live("CustomResourceDefinition", "toys.infrastructure.cluster.x-k8s.io").json()["status"]["storedVersions"];
  };
  const auto due = ElementsAre("toys.infrastructure.cluster.x-k8s.io");
  EXPECT_THAT(*MigrateStorage(ctx_, *client_, kToy, true), due);
  EXPECT_EQ(stored().size(), 2U);
  EXPECT_THAT(*MigrateStorage(ctx_, *client_, kToy), due);
  EXPECT_EQ(stored(), Json::array({"v1beta1"}));
  EXPECT_THAT(*MigrateStorage(ctx_, *client_, kToy), testing::IsEmpty());
  EndToy("mine");
}

TEST_F(Direct, RemovesByLabelsAndKeepsTheRest) {
  MustInstall();
  kube::ApplyYaml(*client_, R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: mine, namespace: toy-system}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: shared
  namespace: toy-system
  labels: {clusterctl.cluster.x-k8s.io: "", cluster.x-k8s.io/provider: infrastructure-other}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: Toy
metadata: {name: used, namespace: default, labels: {cluster.x-k8s.io/cluster-name: c}}
)");
  EXPECT_THAT(*UsersOf(ctx_, *client_, kToy), ElementsAre("Toy default/used"));
  EXPECT_THAT(*KindsWithObjects(ctx_, *client_, kToy), ElementsAre("Toy"));
  auto owned = [](const kube::Object& live) { return live.name() == "toy-old-role" ? "another's" : ""; };
  auto removal = PlanRemoval(ctx_, *client_, kToy, {false, true}, owned);
  ASSERT_TRUE(removal.ok()) << removal.error().message;
  EXPECT_THAT(removal->kept, ElementsAre("ClusterRole.rbac.authorization.k8s.io/toy-old-role (another's)"));
  EXPECT_TRUE(removal->entry);
  EXPECT_THAT(removal->crds, testing::IsEmpty());
  EXPECT_THAT(removal->objects, SizeIs(2));
  ASSERT_TRUE(Remove(ctx_, *client_, *removal, owned).ok());
  EXPECT_EQ(Installed(), "");
  EXPECT_TRUE(Gone("Deployment", "toy-controller-manager"));
  EXPECT_FALSE(Gone("ConfigMap", "mine"));
  EXPECT_FALSE(Gone("ConfigMap", "shared"));
  EXPECT_THAT(Labelled(), ElementsAre("ClusterRole.rbac.authorization.k8s.io/toy-old-role",
                                      "CustomResourceDefinition.apiextensions.k8s.io/"
                                      "toys.infrastructure.cluster.x-k8s.io",
                                      "Namespace/toy-system"));
}

}  // namespace
}  // namespace capi::lifecycle
