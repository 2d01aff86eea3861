// clusterctl rollback as people run it, on an API server in memory (L14).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/upgrade/upgrades_testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(Upgrades, RollbackGoesToTheLastGoodVersion) {  // L14
  cluster_.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
    core["spec"]["version"] = core["status"]["installedVersion"] = "v1.12.0";
    core["status"]["history"] = Json::array(
        {{{"version", "v1.12.0"}, {"outcome", "Succeeded"}}, {{"version", "v1.11.0"}, {"outcome", "Succeeded"}}});
  });
  Outcome asked = Run({"rollback", "cluster-api"});
  EXPECT_EQ(asked.code, 1);
  EXPECT_THAT(asked.err, HasSubstr("goes from v1.12.0 to v1.11.0, an older minor version"));
  EXPECT_THAT(asked.err, HasSubstr("with --yes it is done"));
  Outcome dry = Run({"rollback", "cluster-api", "--dry-run"});
  EXPECT_THAT(dry.out, HasSubstr("CoreProvider capi-system/cluster-api: v1.12.0 -> v1.11.0, contract v1beta2\n"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
  Outcome got = Run({"rollback", "cluster-api", "--yes"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(VersionOf(kCore), "v1.11.0");
  // The leave to go back is taken away again: the next one has to be given anew.
  Json core = cluster_.Get(UpgradeCluster::PathOf(kCore));
  EXPECT_EQ(Find(core, {"metadata", "annotations", api::kAnnotationAllowDowngrade}), nullptr);
}

// What a policy has come to stays, unless somebody says that it may go; and it can be made one's own.
TEST_F(Upgrades, RollbackSaysThatAPolicyHoldsTheVersion) {  // L14, U13
  cluster_.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
    core["spec"]["version"] = "v1.11.0";
    core["spec"]["upgradePolicy"] = {{"type", "Minor"}};
    core["status"]["installedVersion"] = "v1.12.0";
    core["status"]["history"] =
        Json::array({{{"version", "v1.12.0"}, {"outcome", "Succeeded"}, {"insteadOf", "v1.11.0"}},
                     {{"version", "v1.11.0"}, {"outcome", "Succeeded"}}});
  });
  Outcome got = Run({"rollback", "cluster-api", "--yes"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("cluster-api stays at v1.12.0, to which spec.upgradePolicy has led: to go back to "
                                 "v1.11.0, set spec.upgradePolicy.type to None and run clusterctl rollback cluster-api "
                                 "-n capi-system --to-version v1.11.0"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
  got = Run({"upgrade", "apply", "--core", "capi-system/cluster-api:v1.12.0"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(VersionOf(kCore), "v1.12.0") << "the person's word is written, though it is installed already";
}

// To another version than spec.version: with the annotation alone that one would be installed.
TEST_F(Upgrades, RollbackLeavesWhatAPolicyHadComeToOnceThatIsOver) {  // L14, U13
  Release("cluster-api", "v1.11.1", "{major: 1, minor: 11, contract: v1beta2}", "x");
  cluster_.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
    core["spec"]["version"] = "v1.11.0";
    core["spec"]["upgradePolicy"] = {{"type", "None"}};
    core["status"]["installedVersion"] = "v1.12.0";
    core["status"]["history"] = Json::array();
    for (const char* version : {"v1.12.0", "v1.11.1"})
      core["status"]["history"].push_back({{"version", version}, {"outcome", "Succeeded"}, {"insteadOf", "v1.11.0"}});
  });
  Outcome got = Run({"upgrade", "apply", "--core", "capi-system/cluster-api:v1.11.1"});
  EXPECT_EQ(got.code, 1);
  got = Run({"rollback", "cluster-api", "--yes"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(VersionOf(kCore), "v1.11.1");
  EXPECT_TRUE(cluster_.Get(UpgradeCluster::PathOf(kCore))["metadata"]["annotations"].empty());
}

// What a policy has chosen and didn't come up is left for what spec.version says all the time.
TEST_F(Upgrades, RollbackLeavesWhatAPolicyHasChosenAndFailed) {  // L14, U13
  const auto fail = [&](const char* floor) {
    cluster_.Change(UpgradeCluster::PathOf(kCore), [&](Json& core) {
      core["spec"]["version"] = "v1.11.0";
      core["spec"]["upgradePolicy"] = {{"type", "Minor"}};
      core["status"]["installedVersion"] = "v1.12.0";
      core["status"]["history"] =
          Json::array({{{"version", "v1.12.0"}, {"outcome", "Failed"}, {"insteadOf", "v1.11.0"}},
                       {{"version", "v1.11.0"}, {"outcome", "Succeeded"}}});
      if (*floor != '\0') {
        core["status"]["history"].insert(core["status"]["history"].begin() + 1,
                                         Json{{"version", floor}, {"outcome", "Succeeded"}, {"insteadOf", "v1.11.0"}});
      }
    });
  };
  Release("cluster-api", "v1.11.1", "{major: 1, minor: 11, contract: v1beta2}", "x");
  fail("v1.11.1");
  Outcome got = Run({"rollback", "cluster-api", "--to-version", "v1.11.0", "--yes"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("cluster-api stays at"));
  fail("");
  got = Run({"rollback", "cluster-api", "--dry-run"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out, HasSubstr("v1.12.0 -> v1.11.0"));
  cluster_.has_operator = false;
  // As the operator leaves it; annotations raise no generation.
  cluster_.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
    core["status"]["conditions"] =
        Json::array({{{"type", "Ready"}, {"status", "False"}, {"reason", "RolloutTimedOut"}},
                     {{"type", "Stalled"}, {"status", "True"}, {"reason", "RolloutTimedOut"}}});
  });
  got = Run({"rollback", "cluster-api", "--yes", "--wait-provider-timeout", "1"});
  EXPECT_THAT(got.err, HasSubstr("not within 1 s"));
  const Json core = cluster_.Get(UpgradeCluster::PathOf(kCore));
  const Json* leave = Find(core, {"metadata", "annotations", api::kAnnotationAllowDowngrade});
  ASSERT_TRUE(leave != nullptr) << got.err;
  EXPECT_EQ(*leave, "true");
  cluster_.Change(UpgradeCluster::PathOf(kCore), [](Json& came) {
    came["status"]["installedVersion"] = "v1.11.0";
    came["status"]["conditions"] =
        Json::array({{{"type", "Ready"}, {"status", "True"}, {"reason", "WorkloadsReady"}, {"message", ""}}});
    came["status"]["history"].insert(came["status"]["history"].begin(),
                                     Json{{"version", "v1.11.0"}, {"outcome", "Succeeded"}});
  });
  got = Run({"rollback", "cluster-api", "--to-version", "v1.11.0", "--yes"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_TRUE(cluster_.Get(UpgradeCluster::PathOf(kCore))["metadata"]["annotations"].empty());
}

TEST_F(Upgrades, ARollbackThatWasBrokenOffGoesOnBack) {  // L14
  cluster_.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
    core["spec"]["version"] = "v1.11.0";
    core["status"]["installedVersion"] = "v1.12.0";
    core["status"]["history"] = Json::array(
        {{{"version", "v1.12.0"}, {"outcome", "Succeeded"}}, {{"version", "v1.11.0"}, {"outcome", "Succeeded"}}});
  });
  Outcome dry = Run({"rollback", "cluster-api", "--dry-run"});
  EXPECT_THAT(dry.out, HasSubstr("CoreProvider capi-system/cluster-api: v1.12.0 -> v1.11.0")) << dry.err;
}

// The operator has gone back meanwhile: the same command goes no further.
TEST_F(Upgrades, ARollbackThatWasBrokenOffEndsWhereItWasGoing) {  // L14
  for (const char* step : {"v1.12.0", "v1.11.1"}) {               // of another minor version, and of the same one
    const std::string newer = step;
    cluster_.Add(kCore);
    Release("cluster-api", "v1.10.0", "{major: 1, minor: 10, contract: v1beta2}", "z");
    Release("cluster-api", "v1.11.1", "{major: 1, minor: 11, contract: v1beta2}", "x");
    cluster_.Change(UpgradeCluster::PathOf(kCore), [&](Json& core) {
      core["spec"]["version"] = core["status"]["installedVersion"] = newer;
      core["status"]["history"] = Json::array();
      for (const std::string& version : {newer, std::string("v1.11.0"), std::string("v1.10.0")})
        core["status"]["history"].push_back({{"version", version}, {"outcome", "Succeeded"}});
    });
    cluster_.has_operator = false;
    EXPECT_EQ(Run({"rollback", "cluster-api", "--yes", "--wait-provider-timeout", "1"}).code, 1);
    EXPECT_EQ(VersionOf(kCore), "v1.11.0");
    cluster_.has_operator = true;
    cluster_.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
      core["status"]["installedVersion"] = "v1.11.0";
      core["status"]["observedGeneration"] = 2;
      core["status"]["history"].insert(core["status"]["history"].begin(),
                                       Json{{"version", "v1.11.0"}, {"outcome", "Succeeded"}});
    });
    Outcome got = Run({"rollback", "cluster-api", "--yes"});
    EXPECT_EQ(got.code, 0) << newer << got.err;
    EXPECT_EQ(VersionOf(kCore), "v1.11.0");
    Json core = cluster_.Get(UpgradeCluster::PathOf(kCore));
    EXPECT_TRUE(core["metadata"]["annotations"].empty()) << core;
  }
}

void GetStuck(UpgradeCluster& cluster) {
  cluster.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
    core["spec"]["version"] = "v1.12.0";
    core["status"]["observedGeneration"] = 9;
    core["status"]["conditions"][0]["status"] = "False";
    core["status"]["history"] = Json::array(
        {{{"version", "v1.12.0"}, {"outcome", "Failed"}}, {{"version", "v1.11.0"}, {"outcome", "Succeeded"}}});
  });
}

TEST_F(Upgrades, ARollbackOfWhatDidNotComeUpIsNotDoneAtOnce) {  // L14
  GetStuck(cluster_);
  EXPECT_THAT(
      Run({"rollback", "cluster-api"}).err,
      HasSubstr("CoreProvider capi-system/cluster-api goes from v1.12.0 to v1.11.0 (v1.12.0 hasn't come up), an "
                "older minor version"));
  EXPECT_THAT(Run({"rollback", "cluster-api", "--dry-run"}).out,
              testing::AllOf(HasSubstr("v1.12.0 -> v1.11.0, contract v1beta2\n"),
                             HasSubstr("  ~ ConfigMap/capi-system/c: .data.v\n")));
  cluster_.has_operator = false;
  Outcome got = Run({"rollback", "cluster-api", "--yes", "--wait-provider-timeout", "1"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("not within 1 s: CoreProvider capi-system/cluster-api"));
  EXPECT_EQ(VersionOf(kCore), "v1.11.0");
  cluster_.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
    core["status"]["history"].insert(core["status"]["history"].begin(),
                                     Json{{"version", "v1.11.0"}, {"outcome", "Succeeded"}});
  });
  EXPECT_EQ(Run({"rollback", "cluster-api", "--to-version", "v1.11.0", "--yes"}).code, 0);
}

// Nothing is to be written: what the status says of it is the answer, and nobody waits for another one.
TEST_F(Upgrades, WhatIsDeclaredAlreadyAndRefusedIsToldAtOnce) {  // L13
  cluster_.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
    core["spec"]["version"] = "v1.12.0";
    core["status"]["conditions"] =
        Json::array({{{"type", "Ready"}, {"status", "False"}, {"reason", "MissingVariables"}},
                     {{"type", "Stalled"}, {"status", "True"}, {"reason", "MissingVariables"}}});
  });
  Outcome got =
      Run({"upgrade", "apply", "--core", "capi-system/cluster-api:v1.12.0", "--wait-provider-timeout", "600"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("doesn't come to v1.12.0"));
}

void BeUpgraded(UpgradeCluster& cluster) {
  cluster.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
    core["spec"]["version"] = core["status"]["installedVersion"] = "v1.12.0";
    core["status"]["history"] = Json::array(
        {{{"version", "v1.12.0"}, {"outcome", "Succeeded"}}, {{"version", "v1.11.0"}, {"outcome", "Succeeded"}}});
  });
}

TEST_F(Upgrades, TheLeaveToGoBackIsTakenAwayByTheNextRunWhereOneWasBrokenOff) {  // L14
  BeUpgraded(cluster_);
  cluster_.has_operator = false;
  Outcome broken = Run({"rollback", "cluster-api", "--yes", "--wait-provider-timeout", "1"});
  EXPECT_EQ(broken.code, 1);
  EXPECT_THAT(broken.err, HasSubstr("annotation operator.cluster.x-k8s.io/allow-downgrade stays on it until then"));
  cluster_.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
    core["status"]["installedVersion"] = "v1.11.0";
    core["status"]["observedGeneration"] = 2;
  });
  Outcome got = Run({"rollback", "cluster-api", "--to-version", "v1.11.0", "--yes"});
  EXPECT_EQ(got.code, 0) << got.err;
  Json core = cluster_.Get(UpgradeCluster::PathOf(kCore));
  EXPECT_TRUE(core["metadata"]["annotations"].empty()) << core;
}

// The operator has ended a rollback to v1.11.0 whose command was broken off; then somebody has gone on to a version
// that turns out bad, once it is installed or before.
TEST_F(Upgrades, ARollbackThatWasBrokenOffSaysNothingOfLaterVersions) {  // L14
  Release("cluster-api", "v1.12.1",
          "{major: 1, minor: 11, contract: v1beta2}\n- {major: 1, minor: 12, contract: v1beta2}", "z");
  for (bool installed : {true, false}) {
    cluster_.Add(kCore);
    BeUpgraded(cluster_);
    cluster_.has_operator = false;
    EXPECT_EQ(Run({"rollback", "cluster-api", "--yes", "--wait-provider-timeout", "1"}).code, 1);
    cluster_.has_operator = true;
    cluster_.Change(UpgradeCluster::PathOf(kCore), [&](Json& core) {
      core["spec"]["version"] = "v1.12.1";
      core["status"]["installedVersion"] = installed ? "v1.12.1" : "v1.11.0";
      core["status"]["history"] =
          Json::array({{{"version", "v1.12.1"}, {"outcome", installed ? "Succeeded" : "Failed"}},
                       {{"version", "v1.11.0"}, {"outcome", "Succeeded"}}});
    });
    Outcome asked = Run({"rollback", "cluster-api"});
    EXPECT_THAT(asked.err, HasSubstr("goes from v1.12.1 to v1.11.0"));
    cluster_.Change(UpgradeCluster::PathOf(kCore), [](Json& core) { core["status"]["history"].erase(0); });
    Outcome got = Run({"rollback", "cluster-api", "--yes"});
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(VersionOf(kCore), "v1.11.0");
    EXPECT_TRUE(cluster_.Get(UpgradeCluster::PathOf(kCore))["metadata"]["annotations"].empty());
  }
}

TEST_F(Upgrades, TheLeaveToGoBackIsTakenAwayByARollbackThatNeedsNone) {  // L14
  Release("cluster-api", "v1.11.1", "{major: 1, minor: 11, contract: v1beta2}", "x");
  BeUpgraded(cluster_);
  cluster_.has_operator = false;
  EXPECT_EQ(Run({"rollback", "cluster-api", "--to-version", "v1.11.1", "--yes", "--wait-provider-timeout", "1"}).code,
            1);
  cluster_.Change(UpgradeCluster::PathOf(kCore), [](Json& core) { core["status"]["installedVersion"] = "v1.11.1"; });
  cluster_.has_operator = true;
  Outcome got = Run({"rollback", "cluster-api", "--to-version", "v1.11.0", "--yes"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_TRUE(cluster_.Get(UpgradeCluster::PathOf(kCore))["metadata"]["annotations"].empty());
}

TEST_F(Upgrades, TheLeaveToGoBackThatSomebodyElseGaveStays) {  // L14
  BeUpgraded(cluster_);
  cluster_.Change(UpgradeCluster::PathOf(kCore), [](Json& core) {
    core["metadata"]["annotations"][std::string(api::kAnnotationAllowDowngrade)] = "true";
  });
  EXPECT_EQ(Run({"rollback", "cluster-api", "--yes"}).code, 0);
  Json core = cluster_.Get(UpgradeCluster::PathOf(kCore));
  EXPECT_EQ(GetString(core, {"metadata", "annotations", api::kAnnotationAllowDowngrade}), "true");
}

TEST_F(Upgrades, ARuleThatWasBrokenBeforeBlocksNoRollback) {  // L14, C6
  BeUpgraded(cluster_);
  cluster_.Add({api::ProviderType::kInfrastructure, "mine-system", "mine", "v1.0.0", "v1alpha4"});
  EXPECT_EQ(Run({"rollback", "cluster-api", "--dry-run"}).code, 0);
}

TEST_F(Upgrades, RollbackLooksAtTheOperatorsVersion) {  // L14
  BeUpgraded(cluster_);
  cluster_.Put(
      "/apis/apps/v1/namespaces/o/deployments/capi-operator",
      {{"metadata",
        {{"name", "capi-operator"},
         {"namespace", "o"},
         {"labels", {{"app.kubernetes.io/name", "capi-operator"}, {"app.kubernetes.io/version", "v0.0.1"}}}}}});
  EXPECT_THAT(Run({"rollback", "cluster-api", "--yes"}).err, HasSubstr("clusterctl upgrade operator"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

TEST_F(Upgrades, RollbackKeepsTheGoldenRule) {  // L14
  Release("cluster-api", "v0.4.0", "{major: 0, minor: 4, contract: v1alpha4}", "x");
  Outcome got = Run({"rollback", "cluster-api", "--to-version", "v0.4.0", "--yes"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(
      got.err,
      HasSubstr(
          "has contract v1alpha4, which doesn't go together with InfrastructureProvider capa-system/aws (v1beta1)"));
  EXPECT_THAT(Run({"rollback", "cluster-api", "--to-version", "v1.12.0", "--yes"}).err,
              HasSubstr("use clusterctl upgrade apply"));
  EXPECT_THAT(Run({"rollback", "cluster-api", "--yes"}).err, HasSubstr("no version in its history"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

}  // namespace
}  // namespace capi::cli
