#include "cli/providers/why.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/reasons.h"
#include "cli/testing.h"
#include "cli/upgrade/cluster_testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

api::Provider With(std::vector<kube::Condition> conditions, std::int64_t observed = 2) {
  api::Provider out;
  out.generation = 2;
  out.status.observed_generation = observed;
  out.status.conditions = std::move(conditions);
  return out;
}

kube::Condition Ready(std::string status, std::string_view reason, std::string message) {
  return {"Ready", std::move(status), std::string(reason), std::move(message), 2, "2026-01-02T03:04:05Z"};
}

// L9.
TEST(Explain, TheReasonOfReadyWithWhatToDo) {
  Explanation got = Explain(With({Ready("False", api::reason::kDeletionBlocked, "it is in the way")}));
  EXPECT_FALSE(got.ready);
  EXPECT_EQ(got.reason, "DeletionBlocked");
  EXPECT_EQ(got.since, "2026-01-02T03:04:05Z");
  EXPECT_EQ(got.message, "it is in the way");
  EXPECT_EQ(got.meaning, api::FindReason(api::reason::kDeletionBlocked)->meaning);
  EXPECT_EQ(got.action, api::FindReason(api::reason::kDeletionBlocked)->action);
  EXPECT_THAT(got.also, IsEmpty());
}

TEST(Explain, AReasonThatCameAfterThisProgramIsToldByItsMessage) {
  Explanation got = Explain(With({Ready("False", "Unheard", "words")}));
  EXPECT_EQ(got.reason, "Unheard");
  EXPECT_EQ(got.message, "words");
  EXPECT_EQ(got.meaning + got.action, "");
}

// The status is about another spec: what it says isn't what holds back this one.
TEST(Explain, WhatTheOperatorHasNotLookedAt) {
  Explanation never = Explain(With({}));
  EXPECT_FALSE(never.ready);
  EXPECT_EQ(never.reason, "");
  EXPECT_EQ(never.message, "The operator has not looked at it yet.");
  EXPECT_THAT(never.action, HasSubstr("see that the operator runs"));
  Explanation old = Explain(With({Ready("True", api::reason::kWorkloadsReady, "all is well")}, 1));
  EXPECT_FALSE(old.ready);
  EXPECT_EQ(old.message,
            "The operator has not looked at the last change of it yet (generation 2); before that: all is well");
}

TEST(Explain, WhatHoldsBesideTheCause) {
  const kube::Condition asides[] = {
      {"Drifted", "True", "DriftRepeated", "somebody"},
      {"Warnings", "True", "RenderWarnings", "a field"},
      {"ProviderUpgraded", "False", "RolledBack", "back"},
      {"ContractCompatible", "False", "ContractMismatch", "other"},
      {"StorageMigrated", "False", "StorageMigrationFailed", "no"},
      {"Paused", "True", "Paused", "at zero"},
  };
  for (const kube::Condition& aside : asides) {
    SCOPED_TRACE(aside.type);
    kube::Condition well = aside;
    well.status = aside.status == "True" ? "False" : "True";
    Explanation got = Explain(With({Ready("True", api::reason::kWorkloadsReady, "well"), aside}));
    EXPECT_TRUE(got.ready);
    ASSERT_EQ(got.also.size(), 1U);
    EXPECT_EQ(got.also[0].type, aside.type);
    EXPECT_EQ(got.also[0].reason, aside.reason);
    EXPECT_EQ(got.also[0].message, aside.message);
    EXPECT_THAT(Explain(With({Ready("True", api::reason::kWorkloadsReady, "well"), well})).also, IsEmpty());
    // The cause itself isn't told twice, nor what Ready sums up.
    EXPECT_THAT(Explain(With({Ready("False", aside.reason, "x"), aside})).also, IsEmpty());
  }
  kube::Condition part = {"ProviderInstalled", "False", "InstallFailed", "x"};
  EXPECT_THAT(Explain(With({Ready("True", "W", ""), part})).also, IsEmpty());
}

// L20, U12, U13: newer versions are no trouble; one that can't be had or begun is.
TEST(Explain, WhatKeepsANewerVersionBack) {
  const kube::Condition ready = Ready("True", api::reason::kWorkloadsReady, "well");
  api::Provider provider = With({ready, {"UpgradeAvailable", "True", "UpgradeAvailable", "v1.1.0"}});
  provider.status.available_upgrades = {{"v1.1.0", "v1beta2"}};
  EXPECT_THAT(Explain(provider).also, IsEmpty());
  provider.status.available_upgrades[0].refused = api::UpgradeRefusal{"", "", "", "TOKEN has no value"};
  ASSERT_EQ(Explain(provider).also.size(), 1U);
  EXPECT_EQ(Explain(provider).also[0].type, "UpgradeAvailable");
  provider = With({ready, {"UpgradeAvailable", "Unknown", "UpdateCheckFailed", "away"}});
  EXPECT_EQ(Explain(provider).also.size(), 1U);
}

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
