// L23: providers come and go without an operator, on a real control plane.
#include "lifecycle/direct/testing.h"

#include <gmock/gmock.h>

#include "kube/apply/preview.h"

namespace capi::lifecycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

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
  EXPECT_THAT(removed.error().message, HasSubstr("all else of it is deleted, and its CRDs stay: "));
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

// A server may have one object under two groups, as it has Events; an inventory names one of them.
TEST_F(Direct, WhatStaysUnderOneGroupStaysUnderTheOther) {
  MustInstall();
  kube::ApplyYaml(*client_, R"(
apiVersion: v1
kind: Event
metadata:
  name: said
  namespace: toy-system
  labels: {clusterctl.cluster.x-k8s.io: "", cluster.x-k8s.io/provider: infrastructure-toy}
involvedObject: {kind: ConfigMap, name: toy-config, namespace: toy-system}
)");
  auto planned = [this](const Keep& owned) {
    auto removal = PlanRemoval(ctx_, *client_, kToy, {false, true}, owned);
    EXPECT_TRUE(removal.ok()) << removal.error().message;
    std::vector<std::string> out = removal->kept;
    for (const kube::ObjectId& id : removal->objects) {
      if (id.kind == "Event") out.push_back(id.ToString());
    }
    return out;
  };
  EXPECT_THAT(planned(nullptr),
              testing::UnorderedElementsAre("Event/toy-system/said", "Event.events.k8s.io/toy-system/said"));
  const std::string core = "Event/toy-system/said";
  auto owned = [&](const kube::Object& live) { return live.id().ToString() == core ? "another's" : ""; };
  EXPECT_THAT(planned(owned), ElementsAre(core + " (another's)"));
  auto built_in = ListBuiltIn(ctx_, *client_, SelectorOf(kToy));
  ASSERT_TRUE(built_in.ok()) << built_in.error().message;
  std::vector<std::string> events;
  for (const kube::Object& object : *built_in) {
    if (object.kind() == "Event") events.push_back(object.id().ToString());
  }
  EXPECT_THAT(events, ElementsAre(core)) << "cert-manager's upgrade knows no second group";
}

}  // namespace
}  // namespace capi::lifecycle
