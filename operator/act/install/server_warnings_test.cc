// F9: what the server warned of stays in condition Warnings for as long as it is so.
#include "operator/act/install/server_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/reasons.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Action = kube::Change::Action;

kube::ObjectId Id(const std::string& name) { return {"", "ConfigMap", "n", name}; }

kube::Change Sent(const std::string& name, size_t warnings, Action action = Action::kConfigured) {
  return {.id = Id(name), .action = action, .warnings = std::vector<std::string>(warnings, "is deprecated")};
}

kube::Inventory With(const std::vector<std::string>& names) {
  kube::Inventory inventory;
  for (const auto& name : names) inventory.Put(Id(name), {"v1", "hash", "fields", false});
  return inventory;
}

std::vector<std::string> Texts(const ServerWarnings& warnings) {
  std::vector<std::string> out = {"of the render"};
  warnings.AddTo("aws", out);
  out.erase(out.begin());
  return out;
}

// The second stage of an upgrade sends other objects, or the same ones as they are.
TEST(ServerWarnings, StayUntilTheirObjectIsSentAgain) {
  ServerWarnings warnings;
  kube::Inventory all = With({"a", "b"});
  warnings.Note("aws", {Sent("a", 1, Action::kCreated), Sent("b", 0)}, all);
  EXPECT_THAT(Texts(warnings), ElementsAre("ConfigMap/n/a: is deprecated"));
  warnings.Note("aws", {Sent("b", 1)}, all);
  EXPECT_THAT(Texts(warnings), ElementsAre("ConfigMap/n/a: is deprecated", "ConfigMap/n/b: is deprecated"));
  warnings.Note("aws", {Sent("a", 0, Action::kUnchanged), Sent("b", 0, Action::kFailed)}, all);
  EXPECT_EQ(Texts(warnings).size(), 2u) << "neither was taken";
  warnings.Note("aws", {Sent("a", 0)}, all);
  EXPECT_THAT(Texts(warnings), ElementsAre("ConfigMap/n/b: is deprecated")) << "it has nothing to warn of any more";
  warnings.Note("other", {Sent("c", 1)}, With({"c"}));
  EXPECT_EQ(Texts(warnings).size(), 1u);
}

TEST(ServerWarnings, GoWithTheirObject) {
  ServerWarnings warnings;
  warnings.Note("aws", {Sent("a", 1), Sent("b", 1)}, With({"a", "b"}));
  kube::Inventory left = With({"b"});
  warnings.Note("aws", {}, left);
  EXPECT_THAT(Texts(warnings), ElementsAre("ConfigMap/n/b: is deprecated"));
  left.Put(Id("b"), {"v1", "hash", "fields", true});
  warnings.Note("aws", {}, left);
  EXPECT_THAT(Texts(warnings), IsEmpty()) << "it is to be pruned";
  warnings.Note("aws", {Sent("a", 1)}, With({"a"}));
  warnings.Forget("aws");
  EXPECT_THAT(Texts(warnings), IsEmpty());
}

// U10: another process of the operator that sends nothing doesn't know what was warned of, and leaves what is said.
TEST(ServerWarnings, AfterARestartAreUnknownUntilSomethingIsSent) {
  ServerWarnings warnings;
  kube::Inventory all = With({"a"});
  EXPECT_FALSE(warnings.Note("aws", {Sent("a", 0, Action::kUnchanged)}, all));
  EXPECT_FALSE(warnings.Note("aws", {Sent("a", 0, Action::kUnchanged)}, all)) << "however often it sends nothing";
  EXPECT_TRUE(warnings.Note("aws", {Sent("a", 1)}, all));
  EXPECT_TRUE(warnings.Note("aws", {Sent("a", 0, Action::kUnchanged)}, all));
  EXPECT_EQ(Texts(warnings).size(), 1u);
  EXPECT_TRUE(warnings.Note("other", {Sent("b", 0)}, With({"b"})));
  api::ProviderStatus status;
  EXPECT_FALSE(AreTold(status, {}));
  status.conditions = {
      {std::string(api::condition::kWarnings), "True", "RenderWarnings", "one; ConfigMap/n/a: two", 1, ""}};
  EXPECT_TRUE(AreTold(status, {}));
  EXPECT_TRUE(AreTold(status, {"one"}));
  EXPECT_FALSE(AreTold(status, {"one", "three"}));
}

TEST(ServerWarnings, AreTenAtMost) {
  ServerWarnings warnings;
  warnings.Note("aws", {Sent("a", 1'000), Sent("b", 4)}, With({"a", "b"}));
  auto told = Texts(warnings);
  ASSERT_EQ(told.size(), 11u);
  EXPECT_EQ(told[9], "ConfigMap/n/a: is deprecated");
  EXPECT_EQ(told[10], "4 more warnings of the API server");
}

}  // namespace
}  // namespace capi::ops
