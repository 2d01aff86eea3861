// What a status, its events and its condition say of newer versions (behaviour.md U12, U13).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "operator/decide/testing_fleet.h"
#include "operator/decide/upgrades/policy.h"
#include "operator/decide/upgrades/updates.h"
#include "operator/report/secret_masks.h"
#include "operator/report/status_change.h"
#include "operator/report/summarize.h"
#include "operator/report/summarize_testing.h"
#include "operator/report/summarize_updates.h"

namespace capi::ops {
namespace {

using testing::Applied;
using testing::Get;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Observed;
using testing::StatusOf;

Observation Running() {
  Observation o = Observed();
  o.check_updates = std::chrono::hours(12);
  o.source = "url https://example.org/core";
  o.provider.status = Summarize(o, Applied());
  return o;
}

// A pass after a look that came to this.
api::ProviderStatus After(Observation& o, std::vector<api::AvailableUpgrade> newer,
                          std::optional<Error> error = std::nullopt) {
  o.now += std::chrono::hours(12);
  o.updates = UpdatesFound{o.provider.status.update_check->source, o.now, std::move(newer), std::move(error)};
  return Summarize(o, Done{});
}

TEST(SummarizeUpdates, TellsEachVersionOnce_U12) {
  Observation o = Running();
  EXPECT_EQ(StatusOf(o.provider.status, "UpgradeAvailable"), "") << "nobody has looked";
  auto status = After(o, {{"v1.12.1", "v1beta2"}});
  EXPECT_EQ(StatusOf(status, "UpgradeAvailable"), "True");
  EXPECT_EQ(Get(status, "UpgradeAvailable")->message, "v1.12.1 (contract v1beta2)");
  EXPECT_EQ(StatusOf(status, "Ready"), "True");
  EXPECT_FALSE(GoesOn(o.provider.status, status, Done{}));
  auto events = EventsOf(o.provider.status, status, Done{});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0],
            (Event{"Normal", "UpgradeAvailable", "v1.12.1 (contract v1beta2) is available, v1.12.0 is installed"}));

  o.provider.status = status;
  EXPECT_EQ(Summarize(o, Done{}), status) << "a pass without news writes nothing";
  status = After(o, {{"v1.12.1", "v1beta2"}, {"v1.13.0", "v1beta2"}});
  events = EventsOf(o.provider.status, status, Done{});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_THAT(events[0].message, HasSubstr("v1.13.0"));

  o.provider.status = status;
  status = After(o, {});
  EXPECT_EQ(StatusOf(status, "UpgradeAvailable"), "False");
  EXPECT_EQ(Get(status, "UpgradeAvailable")->reason, "UpToDate");
  EXPECT_TRUE(EventsOf(o.provider.status, status, Done{}).empty());
}

TEST(SummarizeUpdates, ASourceThatIsAwayIsNoFault_U12) {
  Observation o = Running();
  o.provider.status = After(o, {{"v1.12.1", "v1beta2"}});
  auto status = After(o, {}, Error{Code::kUnavailable, "github.com doesn't answer", {}});
  EXPECT_EQ(StatusOf(status, "Ready"), "True");
  EXPECT_EQ(StatusOf(status, "Stalled") + StatusOf(status, "Reconciling"), "");
  EXPECT_EQ(StatusOf(status, "UpgradeAvailable"), "Unknown");
  EXPECT_THAT(Get(status, "UpgradeAvailable")->message, HasSubstr("github.com doesn't answer (the next look is at 2"));
  EXPECT_EQ(status.available_upgrades.size(), 1u) << "what was known is so still";
  EXPECT_TRUE(EventsOf(o.provider.status, status, Done{}).empty());

  o.provider.status = status;
  o.updates.reset();  // a restart
  EXPECT_EQ(Summarize(o, Done{}), status);
  o.check_updates = Millis(0);
  status = Summarize(o, Done{});
  EXPECT_EQ(StatusOf(status, "UpgradeAvailable"), "") << "nobody looks any more";
  EXPECT_TRUE(status.available_upgrades.empty());
}

// "Up to date" is said by a look, and of the place that was looked at.
TEST(SummarizeUpdates, WhereNobodyHasLookedNothingIsUpToDate_U12) {
  Observation o = Running();
  o.provider.status = After(o, {{"v1.12.1", "v1beta2"}});
  o.provider.status = After(o, {});
  o.config_secret = Referenced{{"variables", "aws-system"}, true, "u/1"};
  o.provider.status = Summarize(o, Done{});
  EXPECT_EQ(o.provider.status.update_check->time, "") << "a look is due";
  EXPECT_EQ(StatusOf(o.provider.status, "UpgradeAvailable"), "False") << "of the same place";
  o.source = "url https://example.org/other";
  for (int pass = 0; pass < 2; ++pass) {
    o.provider.status = Summarize(o, Done{});
    EXPECT_EQ(StatusOf(o.provider.status, "UpgradeAvailable"), "");
  }
  EXPECT_EQ(StatusOf(After(o, {{"v1.13.0", "v1beta2"}}), "UpgradeAvailable"), "True");
}

TEST(SummarizeUpdates, WhatIsInstalledIsAvailableNoMore_U12) {
  Observation o = Running();
  o.provider.status = After(o, {{"v1.12.1", "v1beta2"}, {"v1.13.0", "v1beta2"}});
  o.updates.reset();
  Done done = Applied();
  done.installed_version = o.provider.spec.version = "v1.12.1";
  auto status = Summarize(o, done);
  ASSERT_EQ(status.available_upgrades.size(), 1u);
  EXPECT_EQ(status.available_upgrades[0].version, "v1.13.0");
}

TEST(SummarizeUpdates, WhatCannotBeReadIsNamed_U12) {
  Observation o = Running();
  o.provider.status = After(o, {{"v1.12.1", "v1beta2"}, {"v1.13.0", "v1beta2"}});
  auto status = After(o, {{"v1.12.1", "v1beta2"}, {"v1.13.0", "", "403 Forbidden"}});
  EXPECT_EQ(Get(status, "UpgradeAvailable")->message,
            "v1.12.1 (contract v1beta2); v1.13.0 (contract v1beta2); can't be read: v1.13.0 (403 Forbidden)");
  EXPECT_TRUE(EventsOf(o.provider.status, status, Done{}).empty());
  o.provider.status = status;
  o.updates.reset();  // a restart
  EXPECT_EQ(Summarize(o, Done{}), status) << "until the next look";
  status = After(o, {{"v1.12.1", "v1beta2"}});
  EXPECT_EQ(Get(status, "UpgradeAvailable")->message, "v1.12.1 (contract v1beta2)");
}

// What a pass knows that has come without a look, or to what goes, is no news.
TEST(SummarizeUpdates, WithoutALookNothingIsTold_U12) {
  Observation o = Running();
  o.provider.status = After(o, {{"v1.12.1", "v1beta2"}});
  const api::ProviderStatus status = o.provider.status;
  const auto told = *Get(status, "UpgradeAvailable");
  o.updates->error = Error{Code::kUnavailable, "away", {}};  // of the look that is told already
  EXPECT_EQ(UpgradeCondition(o, status)->message, told.message);
  o.updates.reset();
  for (bool goes : {false, true}) {
    Observation other = o;
    other.provider.deleting = goes;
    if (!goes) other.spec_error = Error{Code::kInvalidArgument, "", {}};
    api::ProviderStatus none = status;
    none.available_upgrades.clear();
    EXPECT_EQ(UpgradeCondition(other, none), told) << goes;
  }
  o = Running();
  o.provider.spec.upgrade_policy.type = api::UpgradeType::kPatch;
  o.check_updates = Millis(0);
  api::ProviderStatus never;
  EXPECT_EQ(UpgradeCondition(o, never), std::nullopt) << "nothing is installed";
}

// U12, I7: what a source says is hidden before it is told, and before it is cut off.
TEST(SummarizeUpdates, WhatASourceSaysIsHidden_I7) {
  Observation o = Running();
  EXPECT_FALSE(HasForeignWords(o));
  const std::string secret(3000, 'x');
  o.updates = UpdatesFound{o.provider.status.update_check->source, o.now, {}, Error{Code::kUnavailable, secret, {}}};
  EXPECT_TRUE(HasForeignWords(o)) << "the values are learned for this pass";
  SecretMasks masks;
  Done done;
  Observation unknown = o;
  masks.Hide("key", unknown, done);
  EXPECT_THAT(unknown.updates->error->message, Not(HasSubstr("xxxx"))) << "nothing is shown while nothing is known";
  SecretValues values;
  values.Add(secret);
  masks.Put("key", values);
  masks.Hide("key", o, done);
  EXPECT_THAT(Get(Summarize(o, done), "UpgradeAvailable")->message, Not(HasSubstr("xxxx")));
  o.provider.status = Summarize(o, done);
  EXPECT_FALSE(HasForeignWords(o)) << "it is told";

  o.updates = UpdatesFound{o.updates->source, o.now + Seconds(1), {{"v1.13.0", "", secret}}, {}};
  EXPECT_TRUE(HasForeignWords(o)) << "of one version, too";
  masks.Hide("key", o, done);
  EXPECT_THAT(o.updates->newer[0].needs, Not(HasSubstr("xxxx")));
}

// From v1.12.0, with v1.12.1 known.
Observation WithPolicy() {
  Observation o = Running();
  o.provider.spec.upgrade_policy.type = api::UpgradeType::kPatch;
  o.declared_version = "v1.12.0";
  o.provider.status = After(o, {{"v1.12.1", "v1beta2"}});
  o.provider.status.contract = "v1beta2";
  o.updates.reset();
  return o;
}

TEST(SummarizeUpdates, WhatAPolicyCannotBeginIsNoFault_U13) {
  Observation o = WithPolicy();
  Done done;
  done.withdrawn = Withdrawn{"v1.12.1", "AWS_REGION has no value"};
  api::ProviderStatus status = Summarize(o, done);
  EXPECT_EQ(StatusOf(status, "Ready"), "True");
  EXPECT_EQ(StatusOf(status, "Stalled") + StatusOf(status, "Reconciling"), "");
  EXPECT_THAT(Get(status, "UpgradeAvailable")->message,
              HasSubstr("v1.12.1 (contract v1beta2), which spec.upgradePolicy couldn't begin (tried again at 2"));
  EXPECT_THAT(Get(status, "UpgradeAvailable")->message, HasSubstr("AWS_REGION has no value"));
  EXPECT_TRUE(EventsOf(o.provider.status, status, done).empty());
  o.provider.status = status;
  EXPECT_EQ(Summarize(o, Done{}), status) << "a pass without news writes nothing";

  status = After(o, {{"v1.12.1", "v1beta2"}});
  EXPECT_TRUE(status.available_upgrades[0].refused) << "another look finds the same version";
  o.updates.reset();
  o.provider.spec.upgrade_policy.type = api::UpgradeType::kNone;
  status = Summarize(o, Done{});
  EXPECT_FALSE(status.available_upgrades[0].refused);
  EXPECT_EQ(Get(status, "UpgradeAvailable")->message, "v1.12.1 (contract v1beta2)");
}

// What keeps the policy from it now is told before why it couldn't begin once, and the time with its window.
TEST(SummarizeUpdates, WhatWasRefusedIsToldBehindWhatKeepsItNow_U13) {
  Observation o = WithPolicy();
  Refuse(o.provider.status, o, {"v1.12.1", "AWS_REGION has no value"});
  const auto told = [&] { return UpgradeCondition(o, o.provider.status)->message; };
  const auto since_midnight = o.now - std::chrono::floor<std::chrono::days>(o.now);
  const auto start = std::chrono::duration_cast<Millis>(since_midnight) - std::chrono::minutes(20);
  o.provider.spec.upgrade_policy.window = api::MaintenanceWindow{start, std::chrono::minutes(25), {}};
  EXPECT_THAT(told(), HasSubstr("v1.12.1 (contract v1beta2), which spec.upgradePolicy couldn't begin (tried again at " +
                                FormatTime(*TriedAgainAt(o, o.provider.status.available_upgrades[0])) +
                                "): AWS_REGION has no value"));
  o.provider.annotations[std::string(api::kAnnotationAllowDowngrade)] = "true";
  EXPECT_EQ(told(),
            "v1.12.1 (contract v1beta2), from which annotation operator.cluster.x-k8s.io/allow-downgrade keeps "
            "spec.upgradePolicy; it couldn't begin: AWS_REGION has no value");
}

// And what it waits for, or why it doesn't go there.
TEST(SummarizeUpdates, WhatAPolicyWaitsForIsTold_U13) {
  const struct {
    std::function<void(Observation&)> change;
    const char* told;
  } cases[] = {
      {[](Observation&) {}, "v1.12.1 (contract v1beta2)"},
      {[](Observation& o) {
         const auto since_midnight = o.now - std::chrono::floor<std::chrono::days>(o.now);
         const auto passed = std::chrono::duration_cast<Millis>(since_midnight) - std::chrono::hours(1);
         o.provider.spec.upgrade_policy.window = api::MaintenanceWindow{passed, std::chrono::minutes(30), {}};
       },
       "v1.12.1 (contract v1beta2), to which spec.upgradePolicy goes when its window opens at 2"},
      {[](Observation& o) { o.provider.annotations[std::string(api::kAnnotationAllowDowngrade)] = "true"; },
       "v1.12.1 (contract v1beta2), from which annotation operator.cluster.x-k8s.io/allow-downgrade keeps "
       "spec.upgradePolicy"},
      {[](Observation& o) { o.provider.status.contract = "v1beta1"; },
       "v1.12.1 (contract v1beta2), to which no policy goes: v1beta1 is the installed contract"},
      {[](Observation& o) {
         auto core = std::make_shared<api::Provider>(*o.core);
         core->status.installed_version = "";
         o.core = core;
         o.provider.id = {api::ProviderType::kBootstrap, "kubeadm", "kubeadm"};
       },
       "v1.12.1 (contract v1beta2), to which spec.upgradePolicy goes after the core provider"},
  };
  for (const auto& c : cases) {
    Observation o = WithPolicy();
    c.change(o);
    EXPECT_THAT(UpgradeCondition(o, o.provider.status)->message, ::testing::StartsWith(c.told));
  }
}

// Of the roles that are missing the condition has one line; the rest can be had.
TEST(SummarizeUpdates, WhatIsMissingForAChoiceCanBeHad_U13) {
  Observation o = WithPolicy();
  Done done;
  done.withdrawn = Withdrawn{"v1.12.1", "the operator lacks rights", "kind: ClusterRole\n"};
  const api::ProviderStatus status = Summarize(o, done);
  EXPECT_EQ(status.available_upgrades[0].refused->message, "the operator lacks rights\nkind: ClusterRole\n");
  EXPECT_THAT(Get(status, "UpgradeAvailable")->message, Not(HasSubstr("kind:")));
}

TEST(SummarizeUpdates, WhyAPolicyCannotBeginIsHidden_I7) {
  Observation o = WithPolicy();
  const std::string secret(3000, 'x');
  SecretValues values;
  values.Add(secret);
  SecretMasks masks;
  masks.Put("key", values);
  Done done;
  done.withdrawn = Withdrawn{"v1.12.1", "not " + secret};
  EXPECT_TRUE(HasForeignWords(done)) << "the values are learned for this pass";
  masks.Hide("key", o, done);
  const api::ProviderStatus status = Summarize(o, done);
  EXPECT_EQ(status.available_upgrades[0].refused->message, "not ***");
  EXPECT_THAT(ToJsonText(api::StatusToJson(status)), Not(HasSubstr("xxxx")));
}

TEST(SummarizeUpdates, ThatAPolicyFindsNothingIsTold_U13) {
  Observation o = WithPolicy();
  o.check_updates = Millis(0);
  const api::ProviderStatus status = Summarize(o, Done{});
  EXPECT_EQ(StatusOf(status, "UpgradeAvailable"), "Unknown");
  EXPECT_EQ(Get(status, "UpgradeAvailable")->message,
            "Nobody looks for newer versions, and spec.upgradePolicy installs nothing: the operator runs with "
            "--check-updates=0");
  EXPECT_EQ(StatusOf(status, "Ready"), "True");
}

// Whoever reads spec.version, and finds another one installed, is told why.
TEST(SummarizeUpdates, WhatRunsInsteadOfTheDeclaredIsTold_U13) {
  Observation o = WithPolicy();
  o.provider.spec.version = o.provider.status.installed_version = "v1.12.1";
  o.provider.status.history[0].version = "v1.12.1";
  o.provider.status.history[0].instead_of = "v1.12.0";
  o.provider.spec.upgrade_policy.type = api::UpgradeType::kNone;
  o.updates.reset();
  o.provider.status = Summarize(o, Done{});
  auto status = After(o, {});
  EXPECT_EQ(Get(status, "UpgradeAvailable")->message,
            "No newer version is known; v1.12.1 stays installed, which spec.upgradePolicy has come to; spec.version is "
            "v1.12.0");
  o.provider.status = status;
  o.updates.reset();
  Observation newer = o;
  newer.provider.spec.version = "v1.13.0";  // which is to run, and isn't there yet
  EXPECT_EQ(Get(Summarize(newer, Done{}), "UpgradeAvailable")->message, "No newer version is known");
  o.declared_version = "v1.12.1";
  status = Summarize(o, Done{});
  EXPECT_EQ(Get(status, "UpgradeAvailable")->message, "No newer version is known");
  EXPECT_EQ(status.history[0].instead_of, "") << "it is nobody's choice but the person's now";
}

// A rollback of what nobody asked for by name leaves the provider Ready, and stays told.
TEST(SummarizeUpdates, ARollbackOfAChoiceStaysTold_U13) {
  for (const char* instead_of : {"v1.12.0", ""}) {
    Observation o = WithPolicy();
    api::ProviderStatus& status = o.provider.status;
    const api::HistoryEntry good = status.history[0];
    status.history.insert(status.history.begin(), good);
    status.history[0].version = "v1.12.1";
    status.history[0].outcome = "RolledBack";
    status.history[0].inputs = "other inputs";
    status.history[0].instead_of = instead_of;
    status.conditions.push_back({"ProviderUpgraded", "False", "RolledBack", "v1.12.1 failed", 1, ""});
    Done done;
    done.applied = "digest";
    const api::ProviderStatus is = Summarize(o, done);
    EXPECT_EQ(StatusOf(is, "Ready"), "True");
    EXPECT_EQ(Get(is, "ProviderUpgraded")->reason, *instead_of != '\0' ? "RolledBack" : "ProviderUpgraded");
    EXPECT_THAT(Get(is, "UpgradeAvailable")->message, HasSubstr("which failed before: no policy tries it again"));
  }
}

TEST(SummarizeUpdates, ThatAPolicyHasBegunIsAnEvent_U13) {
  Done done;
  done.chosen = "v1.12.1";
  const auto events = EventsOfDone({}, done);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0], (Event{"Normal", "UpgradeChosen", "spec.upgradePolicy upgrades to v1.12.1"}));
}

}  // namespace
}  // namespace capi::ops
