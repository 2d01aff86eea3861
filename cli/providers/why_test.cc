#include "cli/providers/why.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing.h"
#include "cli/upgrade/cluster_testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;

// L9, U13: whoever reads spec.version, and finds another one installed, is told why.
TEST(Why, WhatAPolicyHasLedToIsToldWithWhatIsDeclared) {
  const UpgradeProvider aws{api::ProviderType::kInfrastructure, "capa-system", "aws", "v2.1.0", "v1beta2"};
  UpgradeCluster cluster;
  cluster.Add(aws);
  EXPECT_THAT(cluster.Run({"why", "aws"}).out, HasSubstr("Version:  v2.1.0\n"));
  cluster.Change(UpgradeCluster::PathOf(aws), [](Json& object) {
    object["spec"]["version"] = "v2.0.0";
    object["status"]["history"] =
        Json::array({{{"version", "v2.1.0"}, {"outcome", "Succeeded"}, {"insteadOf", "v2.0.0"}}});
  });
  EXPECT_THAT(cluster.Run({"why", "aws"}).out,
              HasSubstr("v2.1.0, to which spec.upgradePolicy has led; spec.version is v2.0.0"));
  auto why = ParseJson(cluster.Run({"why", "aws", "-o", "json"}).out);
  ASSERT_TRUE(why.ok());
  EXPECT_EQ(GetString(why->at(0), {"version"}), "v2.1.0");
  EXPECT_EQ(GetString(why->at(0), {"declaredVersion"}), "v2.0.0");
  auto history = ParseJson(cluster.Run({"history", "aws", "-o", "json"}).out);
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(GetString(history->at(0).at("history").at(0), {"insteadOf"}), "v2.0.0");
}

// Where the book tells more of what holds it back; nothing does where it is ready.
TEST(Why, TheBooksPlaceIsToldAsDataToo) {
  const UpgradeProvider aws{api::ProviderType::kInfrastructure, "capa-system", "aws", "v2.1.0", "v1beta2"};
  UpgradeCluster cluster;
  cluster.Add(aws);
  auto set_ready = [&](const char* status, const char* reason) {
    cluster.Change(UpgradeCluster::PathOf(aws), [&](Json& object) {
      object["status"]["conditions"] = Json::array({{{"type", "Ready"}, {"status", status}, {"reason", reason}}});
    });
    auto why = ParseJson(cluster.Run({"why", "aws", "-o", "json"}).out);
    return why.ok() ? GetString(why->at(0), {"see"}) : why.error().message;
  };
  EXPECT_EQ(set_ready("False", "InUse"), "docs/reasons.md#inuse");
  EXPECT_EQ(set_ready("True", "WorkloadsReady"), "");
}

TEST(Why, BadArgumentsAreToldBeforeAnyClusterIsLookedFor) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"why", "a", "-o", "x"}, "invalid output format \"x\", valid values: [json name table text wide yaml]"},
      {{"history", "a", "-o", ""}, "invalid output format \"\", valid values: [json name table text wide yaml]"},
      {{"why"}, "name one provider"},
      {{"history", "a", "b"}, "name one provider"},
      {{"rollback", ""}, "name one provider"},
      {{"rollback", "a", "--to-version", "one"}, "invalid version \"one\""},
  };
  for (const auto& [arguments, error] : cases) {
    Outcome outcome = Clusterctl(arguments, {{"HOME", "/nowhere"}});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("Error: " + error));
  }
}

}  // namespace
}  // namespace capi::cli
