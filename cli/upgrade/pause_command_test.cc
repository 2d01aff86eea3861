// Upgrades for which all providers are paused, and what is left of one that was broken off, on an API server in memory
// (L13).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/upgrade/upgrades_testing.h"
#include "cli/upgrade/write.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// By this command.
void BePaused(UpgradeCluster& cluster, const UpgradeProvider& provider) {
  cluster.Change(UpgradeCluster::PathOf(provider), [](Json& object) {
    object["spec"]["paused"] = true;
    object["metadata"]["annotations"][std::string(kAnnotationPausedForUpgrade)] = "true";
  });
}

// A run that was broken off left a provider paused, and the releases are installed by now.
TEST_F(Upgrades, WhatAnEarlierRunLeftPausedComesBack) {  // L13
  const std::pair<UpgradeProvider, std::string> newest[] = {{kCore, "v1.12.0"}, {kAws, "v2.1.0"}};
  for (auto [provider, version] : newest) {
    provider.version = version;
    cluster_.Add(provider);
    cluster_.Change(UpgradeCluster::PathOf(provider), [](Json& object) { object["spec"]["paused"] = true; });
  }
  BePaused(cluster_, kCore);
  Outcome got = Run({"upgrade", "apply", "--contract", "v1beta2"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_FALSE(GetBool(cluster_.Get(UpgradeCluster::PathOf(kCore)), {"spec", "paused"}));
  EXPECT_TRUE(GetBool(cluster_.Get(UpgradeCluster::PathOf(kAws)), {"spec", "paused"})) << "that was somebody else";
  EXPECT_THAT(Run({"upgrade", "apply", "--contract", "v1beta2"}).err, HasSubstr("You are already up to date!"));
}

// Whether cert-manager is up to date this person may not know; the providers are.
TEST_F(Upgrades, WhoMayNotReadCertManagerIsToldAndUpgradesTheRest) {  // L13
  for (auto [provider, version] : {std::pair(kCore, "v1.12.0"), std::pair(kAws, "v2.1.0")}) {
    provider.version = version;
    cluster_.Add(provider);
  }
  cluster_.forbidden = "issuers.cert-manager.io";
  Outcome got = Run({"upgrade", "apply", "--contract", "v1beta2"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err, HasSubstr("Warning: cert-manager stays as it is: failed to look for cert-manager"));
  EXPECT_THAT(got.err, Not(HasSubstr("up to date")));
  cluster_.forbidden = "";
  EXPECT_THAT(Run({"upgrade", "apply", "--contract", "v1beta2"}).err, HasSubstr("You are already up to date!"));
}

// Its repositories are away meanwhile.
TEST_F(Upgrades, WhatAnEarlierRunLeftPausedComesBackThoughNoVersionsAreKnown) {  // L13
  cluster_.Add(kMine);                                                           // which no configuration names
  for (const UpgradeProvider& provider : {kCore, kAws, kMine}) BePaused(cluster_, provider);
  LoseRepositories();
  // Nor is anything to be had of the cert-manager that clusterctl installed: they would stay at zero for that.
  cluster_.Put("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/issuers.cert-manager.io",
               {{"metadata", {{"labels", {{"clusterctl.cluster.x-k8s.io/core", "cert-manager"}}}}}});
  Outcome got = Run({"upgrade", "apply", "--contract", "v1beta2"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err, HasSubstr("Warning: nothing new is upgraded, an earlier run is finished alone: "));
  for (const UpgradeProvider& provider : {kCore, kAws, kMine})
    EXPECT_FALSE(GetBool(cluster_.Get(UpgradeCluster::PathOf(provider)), {"spec", "paused"})) << provider.name;
  EXPECT_EQ(Run({"upgrade", "apply", "--contract", "v1beta2"}).code, 1) << "nothing is left to end";
}

const std::vector<std::string> kBoth = {
    "upgrade", "apply", "--core", "cluster-api:v1.0.0", "-i", "aws:v1.0.0", "--wait-provider-timeout", "1"};

// A core and aws of contract v1alpha4, and releases of v1beta1, to which neither can go alone.
class ContractChange : public Upgrades {
 protected:
  ContractChange() {
    const std::pair<UpgradeProvider, std::string> old[] = {{kCore, "v0.4.0"}, {kAws, "v0.7.0"}};
    for (auto [provider, version] : old) {
      provider.version = version;
      provider.contract = "v1alpha4";
      cluster_.Add(provider);
    }
    const std::string series =
        "{major: 0, minor: 4, contract: v1alpha4}\n- {major: 0, minor: 7, contract: v1alpha4}\n"
        "- {major: 1, minor: 0, contract: v1beta1}\n- {major: 1, minor: 12, contract: v1beta2}\n"
        "- {major: 2, minor: 1, contract: v1beta1}";
    for (const char* version : {"v1.0.0", "v1.12.0"}) Release("cluster-api", version, series, "y");
    for (const char* version : {"v1.0.0", "v2.1.0"}) Release("infrastructure-aws", version, series, "y");
  }
  // A run that was broken off has paused it, on its way to v1.0.0.
  void BeginWith(const UpgradeProvider& provider) {
    BePaused(cluster_, provider);
    cluster_.Change(UpgradeCluster::PathOf(provider), [](Json& object) { object["spec"]["version"] = "v1.0.0"; });
  }
  void BeInstalled(const UpgradeProvider& provider) {
    cluster_.Change(UpgradeCluster::PathOf(provider),
                    [](Json& object) { object["status"]["installedVersion"] = "v1.0.0"; });
  }
  bool IsPaused(const UpgradeProvider& provider) {
    return GetBool(cluster_.Get(UpgradeCluster::PathOf(provider)), {"spec", "paused"});
  }
};

// The operator takes a provider with that annotation to zero replicas for nobody: all others would wait there. It has a
// contract that the core doesn't accept now either (C6), and stays as it is.
TEST_F(ContractChange, APauseThatCanNeverBeCompleteIsNotBegun) {  // L13, C3
  UpgradeProvider mine = kMine;
  mine.contract = "v1alpha3";
  cluster_.Add(mine);
  cluster_.Change(UpgradeCluster::PathOf(mine),
                  [](Json& object) { object["metadata"]["annotations"][std::string(api::kAnnotationPaused)] = ""; });
  Outcome got = Run(kBoth);
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("the operator leaves these as they are: InfrastructureProvider mine-system/mine has "
                                 "annotation cluster.x-k8s.io/paused"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// Ctrl-C came between the first and the second.
TEST_F(ContractChange, WhatARunHasNotWrittenIsWrittenByTheNextOne) {  // L13, C3
  BeginWith(kCore);
  cluster_.before_write = [&](UpgradeCluster&, const std::string& what) {
    if (what.find("infrastructureproviders") != what.npos) BeInstalled(kCore);  // as soon as all are paused
  };
  Outcome got = Run(kBoth);
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err, HasSubstr("Pausing provider=\"infrastructure-aws\""));
  EXPECT_EQ(VersionOf(kAws), "v1.0.0");
  for (const UpgradeProvider& provider : {kCore, kAws}) EXPECT_FALSE(IsPaused(provider)) << provider.name;
}

// The core waits for aws, of which nobody knows now where it was to go: no time helps.
TEST_F(ContractChange, WhatWasNeverWrittenIsNotWaitedFor) {  // L13, C3
  BeginWith(kCore);
  LoseRepositories();
  const std::vector<std::string> by_contract = {"upgrade", "apply", "--contract", "v1beta2", "--wait-provider-timeout",
                                                "1"};
  for (const auto& command : {kBoth, by_contract}) {
    Outcome got = Run(command);
    EXPECT_EQ(got.code, 1);
    EXPECT_THAT(got.err, Not(HasSubstr("not within")));
    EXPECT_THAT(cluster_.writes(), IsEmpty());
  }
  EXPECT_THAT(Run(by_contract).err, HasSubstr("; an earlier run was broken off before it had written all"));
}

TEST_F(ContractChange, WhatIsNamedComesBackThoughNoVersionsAreKnown) {  // L13
  for (const UpgradeProvider& provider : {kCore, kAws}) {
    BeginWith(provider);
    BeInstalled(provider);
  }
  LoseRepositories();
  EXPECT_EQ(Run({"upgrade", "apply", "--core", "cluster-api:v1.0.1"}).code, 1) << "that would be something new";
  Outcome got = Run(kBoth);
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err, HasSubstr("Warning: nothing new is upgraded, an earlier run is finished alone: "));
  for (const UpgradeProvider& provider : {kCore, kAws}) EXPECT_FALSE(IsPaused(provider)) << provider.name;
  EXPECT_EQ(Run(kBoth).code, 1) << "nothing is left to end";
}

}  // namespace
}  // namespace capi::cli
