#include "kube/apply/field_owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml/yaml.h"

namespace capi::kube {
namespace {

Object Live(std::string_view managed_fields) {
  auto parsed = ParseYaml(managed_fields);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return Object(
      Json{{"apiVersion", "v1"},
           {"kind", "ConfigMap"},
           {"metadata", {{"name", "a"}, {"uid", "u"}, {"resourceVersion", "7"}, {"managedFields", *parsed}}}});
}

constexpr std::string_view kInstaller =
    "- {manager: anything, operation: Update, apiVersion: v1, fieldsType: FieldsV1,\n"
    "   fieldsV1: {'f:data': {'f:a': {}}, 'f:metadata': {'f:labels': {'f:the/label': {}}}}}\n";
constexpr std::string_view kSomebody =
    "- {manager: manager, operation: Update, apiVersion: v1, fieldsV1: {'f:data': {'f:theirs': {}}}}\n";
constexpr std::string_view kOurs =
    "- {manager: us, operation: Apply, apiVersion: v1, fieldsV1: {'f:data': {'f:a': {}, 'f:b': {}}}}\n";

Json Moved(std::string yaml) {
  auto moved = MoveFieldOwners(Live(yaml), "us", WroteLabel("the/label"));
  return moved ? *moved : Json();
}

// A1c: who wrote the label by an update was the installer; others keep what they own.
TEST(FieldOwners, InstallersFieldsBecomeOurApply) {
  Json moved = Moved(std::string(kInstaller) + std::string(kSomebody));
  ASSERT_EQ(moved.size(), 2u);
  EXPECT_EQ(GetString(moved[0], {"manager"}), "manager");
  EXPECT_EQ(GetString(moved[1], {"manager"}), "us");
  EXPECT_EQ(GetString(moved[1], {"operation"}), "Apply");
  EXPECT_NE(Find(moved[1], {"fieldsV1", "f:data", "f:a"}), nullptr);
  EXPECT_NE(Find(moved[1], {"fieldsV1", "f:metadata", "f:labels", "f:the/label"}), nullptr);
}

// Both orders: the peer operator applies under our name what it had created under another.
TEST(FieldOwners, JoinsAnApplyOfOurs) {
  for (const std::string& yaml :
       {std::string(kInstaller) + std::string(kOurs), std::string(kOurs) + std::string(kInstaller)}) {
    Json moved = Moved(yaml);
    ASSERT_EQ(moved.size(), 1u) << yaml;
    EXPECT_EQ(GetString(moved[0], {"operation"}), "Apply");
    EXPECT_NE(Find(moved[0], {"fieldsV1", "f:data", "f:b"}), nullptr);
    EXPECT_NE(Find(moved[0], {"fieldsV1", "f:metadata", "f:labels", "f:the/label"}), nullptr);
  }
}

// A1c: of those that apply, one alone is an installer.
TEST(FieldOwners, AnInstallerMayApply) {
  const std::string yaml =
      "- {manager: clusterctl, operation: Apply, apiVersion: v1, fieldsV1: {'f:metadata': {'f:labels': {'f:the/label': "
      "{}}}}}\n- {manager: gitops, operation: Apply, apiVersion: v1, fieldsV1: {'f:metadata': {'f:labels': "
      "{'f:the/label': {}}}}}\n";
  EXPECT_TRUE(Moved(yaml).is_null());
  auto moved = MoveFieldOwners(Live(yaml), "us", WroteLabel("the/label", "clusterctl"));
  ASSERT_TRUE(moved);
  ASSERT_EQ(moved->size(), 2u);
  EXPECT_EQ(GetString((*moved)[0], {"manager"}), "gitops");
  EXPECT_EQ(GetString((*moved)[1], {"manager"}), "us");
}

TEST(FieldOwners, LeavesTheRestAlone) {
  EXPECT_TRUE(Moved(std::string(kSomebody) + std::string(kOurs)).is_null());
  EXPECT_TRUE(Moved("- {manager: m, operation: Update, subresource: status, fieldsV1: {'f:metadata': {'f:labels': "
                    "{'f:the/label': {}}}}}")
                  .is_null());
  EXPECT_FALSE(MoveFieldOwners(Object(), "us", WroteLabel("the/label")));
}

// A1b: owners of one API group go, others stay; nothing is patched where nothing has to go.
TEST(FieldOwners, PatchTakesOwnersOff) {
  Object live = Live("[]");
  auto patch = [&] { return TakeOverPatch(live, "us", WroteLabel("the/label"), "operator.example"); };
  EXPECT_FALSE(patch());
  Json theirs = {{"apiVersion", "operator.example/v1"}, {"kind", "P"}, {"name", "p"}, {"uid", "1"}};
  Json others = {{"apiVersion", "apps/v1"}, {"kind", "D"}, {"name", "d"}, {"uid", "2"}};
  live.json()["metadata"]["ownerReferences"] = Json::array({others});
  EXPECT_FALSE(patch());
  live.json()["metadata"]["ownerReferences"] = Json::array({theirs, others});
  ASSERT_TRUE(patch());
  EXPECT_EQ((*patch())["metadata"]["ownerReferences"], Json::array({others}));
  EXPECT_EQ((*patch())["metadata"]["resourceVersion"], "7");
  EXPECT_FALSE((*patch())["metadata"].contains("managedFields"));
  live.json()["metadata"]["ownerReferences"] = Json::array({theirs});
  EXPECT_TRUE((*patch())["metadata"]["ownerReferences"].is_null());
}

}  // namespace
}  // namespace capi::kube
