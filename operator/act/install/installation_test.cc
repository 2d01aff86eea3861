#include "operator/act/install/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/reasons.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;
using testing::Observed;

kube::Manifest NewManifest(const kube::ObjectId& id) {
  kube::Manifest manifest;
  manifest.id = id;
  manifest.api_version = id.group.empty() ? "v1" : id.group + "/v1";
  manifest.hash = "new";
  return manifest;
}

// U7: whatever is applied next is announced first; what goes is remembered until the new is healthy (U4).
TEST(MergeInventory, HoldsOldAndNew) {
  kube::ObjectId stays{"apps", "Deployment", "ns", "stays"}, goes{"", "Service", "ns", "goes"},
      comes{"", "Secret", "ns", "comes"}, crd{"apiextensions.k8s.io", "CustomResourceDefinition", "", "a.b"};
  kube::Inventory old;
  old.Put(stays, {"v1", "old", "f"});
  old.Put(goes, {"v1", "old", "f"});
  old.Put(crd, {"v1", "old", "f"});
  kube::Inventory merged = MergeInventory(old, {NewManifest(stays), NewManifest(comes)});
  EXPECT_EQ(merged.size(), 4u);
  EXPECT_EQ(merged.Find(stays)->hash, "") << "whoever comes next can't tell whether it was sent";
  EXPECT_EQ(merged.Find(stays)->fields, "f") << "whoever takes it away meanwhile is still noticed (D1)";
  kube::Inventory same;
  same.Put(stays, {"v1", "new", "f"});
  EXPECT_EQ(MergeInventory(same, {NewManifest(stays)}).Find(stays)->hash, "new") << "nothing is sent for it";
  EXPECT_EQ(merged.Find(comes)->hash, "");
  EXPECT_TRUE(merged.Find(goes)->stale);
  EXPECT_FALSE(merged.Find(stays)->stale);
  EXPECT_FALSE(merged.Find(crd)->stale) << "U4: CRDs are never pruned";
  EXPECT_FALSE(MergeInventory(merged, {NewManifest(goes)}).Find(goes)->stale) << "it came back";
}

// U11: of an inventory that was rebuilt nothing is pruned, whether by its first stage or by the next one.
// I19: whether or not anything says that the operator has made it.
TEST(CertificatesOfAnInventory, AreNoPartOfItWhereCertManagerMakesThem) {
  const kube::ObjectId secret{"", "Secret", "n", "cert"}, other{"", "Secret", "n", "other"};
  kube::Manifest certificate = NewManifest({"cert-manager.io", "Certificate", "n", "serving"});
  certificate.text = R"({"spec":{"secretName":"cert"}})";
  for (bool stale : {true, false}) {
    kube::Inventory inventory;
    for (const kube::ObjectId& id : {secret, other}) inventory.Put(id, {"v1", "hash", "fields", stale});
    kube::Inventory rendered = inventory;
    LeaveToCertManager({certificate}, inventory);
    EXPECT_EQ(inventory.Find(secret), nullptr);
    EXPECT_NE(inventory.Find(other), nullptr);
    LeaveToCertManager({certificate, NewManifest(secret)}, rendered);
    EXPECT_NE(rendered.Find(secret), nullptr) << "the release has it, too";
  }
}

TEST(MergeInventory, LeavesMarksAsTheyAre) {
  kube::ObjectId goes{"", "Service", "ns", "goes"}, found{"", "Service", "ns", "found"};
  kube::Inventory old;
  old.Put(goes, {"v1", "old", "f", true});
  old.Put(found, {"v1", "old", "f"});
  kube::Inventory merged = MergeInventory(old, {}, true);
  EXPECT_TRUE(merged.Find(goes)->stale);
  EXPECT_FALSE(merged.Find(found)->stale);
}

// U7: only what isn't as it was applied is announced.
TEST(Differs, WhereSomethingIsToBeSent) {
  const kube::ObjectId id{"apps", "Deployment", "ns", "a"};
  const std::vector<kube::Manifest> manifests = {NewManifest(id)};
  kube::Inventory none, applied, other, unseen, old;
  applied.Put(id, {"v1", "new", "fields"});
  old.Put(id, {"v1", "old", "fields"});
  unseen.Put(id, {"v1", "new", ""});
  other.Put(id, {"v1", "new", "fields", true});
  EXPECT_FALSE(Differs(applied, applied, manifests));
  EXPECT_TRUE(Differs(other, applied, manifests)) << "its mark goes";
  EXPECT_TRUE(Differs(old, old, manifests));
  EXPECT_TRUE(Differs(unseen, unseen, manifests)) << "it is to be sent again";
  EXPECT_TRUE(Differs(none, none, manifests));
}

// D1: what drifted is sent again; what isn't ours stays unknown.
TEST(ForgetDrifted, ForgetsWhatWasSent) {
  const kube::ObjectId drifted{"", "Secret", "ns", "a"}, kept{"", "Secret", "ns", "b"},
      foreign{"", "Secret", "ns", "c"};
  kube::Inventory inventory;
  inventory.Put(drifted, {"v1", "hash", "fields"});
  inventory.Put(kept, {"v1", "hash", "fields"});
  Observation o = Observed();
  o.fleet.drifts = {{drifted, true, {}, {}}, {foreign, true, {}, {}}};
  ForgetDrifted(o, inventory);
  EXPECT_EQ(inventory.Find(drifted)->hash, "");
  EXPECT_EQ(inventory.Find(kept)->hash, "hash");
  EXPECT_EQ(inventory.Find(foreign), nullptr);
}

// D1: only what the render can't bring back, and nobody has, is dropped.
TEST(DropGone, DropsWhatNoApplyBringsBack) {
  const kube::ObjectId only_failed{"apiextensions.k8s.io", "CustomResourceDefinition", "", "news.x"},
      rendered{"apiextensions.k8s.io", "CustomResourceDefinition", "", "things.x"},
      changed{"apiextensions.k8s.io", "CustomResourceDefinition", "", "changed.x"},
      not_shown{"", "ServiceAccount", "aws-system", "manager"};
  kube::Inventory inventory;
  for (const auto& id : {only_failed, rendered, changed}) inventory.Put(id, {"v1", "hash", "fields"});
  inventory.Put(not_shown, {"v1", "hash", "fields", true});
  Observation o = Observed();
  o.fleet.drifts = {
      {only_failed, true, {}, {}}, {rendered, true, {}, {}}, {changed, false, {}, {}}, {not_shown, true, {}, {}}};
  DropGone(o, {NewManifest(rendered)}, inventory);
  EXPECT_EQ(inventory.Find(only_failed), nullptr);
  ASSERT_NE(inventory.Find(rendered), nullptr);
  EXPECT_EQ(inventory.Find(rendered)->hash, "hash");
  ASSERT_NE(inventory.Find(changed), nullptr);
  EXPECT_EQ(inventory.Find(changed)->fields, "fields");
  EXPECT_NE(inventory.Find(not_shown), nullptr) << "it may have lost its label alone: Prune looks, and tells";
}

TEST(RenderHold, TellsReasonAndPlace) {
  Observation o = Observed();
  templating::RenderError missing{
      templating::RenderStep::kVariables, {Code::kInvalidArgument, "m", {}}, {"A", "B", "C"}};
  Hold hold = RenderHold(o, missing);
  EXPECT_EQ(hold.reason, api::reason::kMissingVariables);
  EXPECT_EQ(hold.condition, api::condition::kPreflightCheckPassed);
  EXPECT_THAT(hold.message, HasSubstr("[A, B, C] is not set: put them into"));
  templating::RenderError one{templating::RenderStep::kVariables, {Code::kInvalidArgument, "m", {}}, {"A"}};
  EXPECT_THAT(RenderHold(o, one).message, HasSubstr("[A] is not set: put it into"));
  EXPECT_THAT(hold.message, HasSubstr("spec.configSecret"));
  o.config_secret = Referenced{{"aws-variables", "aws-system"}, true, "1"};
  EXPECT_THAT(RenderHold(o, missing).message, HasSubstr("Secret aws-system/aws-variables"));

  using templating::RenderStep;
  const std::pair<RenderStep, std::string_view> reasons[] = {
      {RenderStep::kVariables, api::reason::kInvalidComponents},
      {RenderStep::kParse, api::reason::kInvalidComponents},
      {RenderStep::kImages, api::reason::kComponentsImageOverrideError},
      {RenderStep::kTwoNamespaces, api::reason::kMultipleNamespaces},
      {RenderStep::kNamespace, api::reason::kComponentsNamespaceError},
      {RenderStep::kDuplicates, api::reason::kDuplicateObjects},
      {RenderStep::kCustomise, api::reason::kComponentsCustomizationError},
      {RenderStep::kManagerField, api::reason::kUnsupportedManagerField},
      {RenderStep::kPatch, api::reason::kComponentsPatchError},
  };
  for (const auto& [step, reason] : reasons) {
    EXPECT_EQ(RenderHold(o, {step, {Code::kInvalidArgument, "m", {}}, {}}).reason, reason);
  }
  // I9a: nothing of the release was touched.
  Hold refused = RenderHold(o, {RenderStep::kManagerField, {Code::kInvalidArgument, "spec.manager.x: m", {}}, {}});
  EXPECT_EQ(refused.condition, api::condition::kPreflightCheckPassed);
  EXPECT_EQ(refused.message, "spec.manager.x: m");
}

// I8: the Provider's own Namespace is never labelled; what is missing is said.
TEST(MissingNamespaceLabels, NamesWhatIsMissing) {
  kube::Object ns(Json{{"metadata", {{"name", "x"}, {"labels", {{"a", "1"}}}}}});
  EXPECT_EQ(MissingNamespaceLabels(ns, {{"a", "1"}}), "");
  EXPECT_THAT(MissingNamespaceLabels(ns, {{"a", "2"}, {"b", "3"}}), HasSubstr("kubectl label namespace x a=2 b=3"));
}

// U2: a Deployment gets the strategy it asks for, and a word of warning.
TEST(RenderManifests, WarnsOfWhatStopsBeforeItStarts) {
  const std::pair<std::string, bool> cases[] = {
      {"kind: Deployment\nspec: {strategy: {type: Recreate}}", true},
      {"kind: Deployment\nspec: {strategy: {type: RollingUpdate}}", false},
      {"kind: Deployment\nspec: {}", false},
      {"kind: StatefulSet\nspec: {strategy: {type: Recreate}}", false},
  };
  for (const auto& [rest, warned] : cases) {
    api::Release release;
    release.version = *api::Version::Parse("v1.12.0");
    release.components = "apiVersion: apps/v1\nmetadata: {name: c, namespace: n}\n" + rest + "\n";
    auto rendered = RenderManifests(Observed(), release, {}, {});
    ASSERT_FALSE(rendered.hold) << rendered.hold->message;
    std::string all = ::testing::PrintToString(rendered.warnings);
    EXPECT_EQ(all.find("Deployment c has strategy Recreate") != all.npos, warned) << rest << all;
    EXPECT_EQ(all.find("\"\""), all.npos) << "no empty one";
  }
}

TEST(RenderManifests, ReadsVariablesFromSecretThenEnvironment) {
  Observation o = Observed();
  api::Release release;
  release.version = *api::Version::Parse("v1.12.0");
  release.source = "a test";
  release.components =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\ndata: {a: '${A}', b: '${B}', c: "
      "'${C:=default}'}\n";
  Settings settings;
  settings.environment = {{"A", "environment"}, {"B", "environment"}};
  RenderInputs inputs;
  inputs.variables = {{"A", "secret"}};
  auto rendered = RenderManifests(o, release, inputs, settings);
  ASSERT_FALSE(rendered.hold) << rendered.hold->message;
  ASSERT_EQ(rendered.manifests.size(), 1u);
  EXPECT_EQ(rendered.manifests[0].id.ns, "aws-system") << "I8";
  EXPECT_THAT(rendered.manifests[0].text, HasSubstr(R"({"a":"secret","b":"environment","c":"default"})"));
  settings.environment.clear();
  rendered = RenderManifests(o, release, inputs, settings);
  ASSERT_TRUE(rendered.hold);
  EXPECT_EQ(rendered.hold->reason, api::reason::kMissingVariables);
}

}  // namespace
}  // namespace capi::ops
