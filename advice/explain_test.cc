#include "advice/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/reasons.h"

namespace capi::advice {
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

// P4: what is edited or deleted while hands are off is seen, and left as it is.
TEST(Explain, HandsThatAreOff) {
  for (std::int64_t generation : {2, 1}) {
    api::Provider provider = With({Ready("True", api::reason::kWorkloadsReady, "well"),
                                   {"Paused", "True", std::string(api::reason::kHandsOff), "annotated", generation}});
    provider.generation = 2;
    provider.status.observed_generation = 1;
    const Explanation got = Explain(provider);
    EXPECT_FALSE(got.ready);
    EXPECT_EQ(got.reason, generation == 2 ? "HandsOff" : "");
    EXPECT_EQ(got.message == "annotated", generation == 2) << got.message;
    EXPECT_EQ(got.meaning.empty(), generation != 2);
  }
}

// L9: who waits for whom is told by kind of trouble, and by whole names alone.
TEST(AwaitedBy, TheCoreOrWhomTheMessageNames) {
  struct Case {
    std::string_view why, message;
    bool core, aws;
  };
  const Case cases[] = {
      {api::reason::kWaitingForCoreProviderReady, "words", true, false},
      {api::reason::kWaitingForOrder, "comes after InfrastructureProvider capa-system/aws (v1beta1); then", false,
       true},
      {api::reason::kWaitingForPause, "not paused: capa-system/aws.", false, true},
      {api::reason::kWaitingForPause, "not paused: capa-system/aws-2, a.capa-system/aws, x/capa-system/aws", false,
       false},
      {api::reason::kDeletionBlocked, "other providers need the core: InfrastructureProvider/aws; delete", false, true},
      {api::reason::kDeletionBlocked, "other providers need the core: AddonProvider/aws; delete", false, false},
      {api::reason::kDeletionBlocked,
       "other providers need the core: BootstrapProvider/kubeadm, ControlPlaneProvider/kubeadm, "
       "InfrastructureProvider/aws; delete",
       false, true},
      {api::reason::kWaitingForPause, "not paused: a/one, capa-system/aws, c/three; then", false, true},
      {api::reason::kDeletionBlocked, "there are AWSCluster capa-system/aws; delete", false, false},
      {api::reason::kWaitingForPause, "not at zero: BootstrapProvider capa-system/aws (v1beta1)", false, false},
      {api::reason::kObjectOwnedByAnotherProvider, "ServiceAccount capa-system/aws is of AddonProvider/other", false,
       false},
      {api::reason::kWaitingForOrder, "InfrastructureProvider/aws v1.0.0 comes after a/gcp", false, false},
      {api::reason::kCAPIVersionIncompatibility, "contract v1 is not one that the core provider (contract v2) accepts",
       true, false},
      {api::reason::kCAPIVersionIncompatibility, "version v1.0.0 does not match any release series", false, false},
      {api::reason::kInvalidSpec, "not so good as capa-system/aws", false, false},
      {"", "", false, false},
  };
  const api::ProviderId core{api::ProviderType::kCore, "capi-system", "cluster-api"};
  const api::ProviderId aws{api::ProviderType::kInfrastructure, "capa-system", "aws"};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.message);
    Awaited awaited = AwaitedBy(c.why, c.message);
    EXPECT_EQ(awaited.Has(core), c.core);
    EXPECT_EQ(awaited.others, c.why != api::reason::kCAPIVersionIncompatibility && !c.core && c.why != "" &&
                                  c.why != api::reason::kInvalidSpec);
    EXPECT_EQ(awaited.Has(aws), c.aws);
  }
}

}  // namespace
}  // namespace capi::advice
