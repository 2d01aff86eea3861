// What a policy has chosen, and it failed or is refused half-way (behaviour.md U13).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/decide/rollout.h"
#include "operator/decide/upgrades/policy.h"
#include "operator/decide/upgrades/policy_testing.h"

namespace capi::ops {
namespace {

using testing::Begun;
using testing::Chosen;
using testing::Entry;
using testing::FailOften;
using testing::kHour;
using testing::kMinor;
using testing::kPatch;
using testing::Left;
using testing::Moved;
using testing::Settle;

// What a version failed for may be no fault of it. Those below were tried one after the other, and none was left.
TEST(Policy, NothingBelowWhatFailedIsTriedButPatches_U13) {
  Observation o = Moved(kMinor);
  auto& status = o.provider.status;
  status.available_upgrades = {
      {"v1.12.3", "v1beta2"}, {"v1.13.5", "v1beta2"}, {"v1.14.5", "v1beta2"}, {"v1.15.2", "v1beta2"}};
  EXPECT_EQ(Chosen(o), "v1.15.2");
  status.history.insert(status.history.begin(), Entry("v1.15.2", "RolledBack", "v1.12.0"));
  EXPECT_EQ(Chosen(o), "v1.12.3");
  EXPECT_THAT(KeptFrom(o, status.available_upgrades[2]), ::testing::HasSubstr("since v1.15.2, which is newer, failed"));
  status.available_upgrades.erase(status.available_upgrades.begin());
  FailOften(status.history, "v1.12.1", "v1.12.0");
  EXPECT_EQ(Chosen(o), "") << "however much fails since";
  status.available_upgrades.push_back({"v1.16.0", "v1beta2"});
  EXPECT_EQ(Chosen(o), "v1.16.0");
}

// After a rollback what ran is wanted again, and no change of an input rolls out what failed.
TEST(Policy, WhatWasRolledBackIsNotRolledOutAgain_U13) {
  Observation o = Moved();
  auto& status = o.provider.status;
  status.available_upgrades = {{"v1.12.2", "v1beta2"}};
  status.history.insert(status.history.begin(), Entry("v1.12.2", "RolledBack", "v1.12.0"));
  for (const char* inputs : {"spec", "another patch", "another secret"}) {
    o.spec_digest = inputs;
    for (auto type : {kPatch, kMinor, api::UpgradeType::kNone}) {
      o.provider.spec.upgrade_policy.type = type;
      Settle(o);
      EXPECT_EQ(o.provider.spec.version, "v1.12.1") << inputs;
      EXPECT_EQ(Chosen(o), "") << inputs;
    }
  }
}

// Nor while it is on its way back.
TEST(Policy, OtherInputsDontStopARollback_U13) {
  Observation o = Begun("RollingBack");
  for (const char* inputs : {"spec", "another patch"}) {
    o.spec_digest = inputs;
    const Step step = Decide(o);
    const auto* back = std::get_if<Install>(&step);
    ASSERT_TRUE(back != nullptr) << inputs << ": " << NameOf(step);
    EXPECT_EQ(back->rollback_to, "v1.12.1") << inputs;
  }
}

// The same where it is left as it is: it is held, and the end of the policy doesn't change that.
TEST(Policy, WhatFailedIsHeldUntilSomethingNewerOrAPersonComes_U13) {
  Observation o = Left();
  auto& status = o.provider.status;
  ASSERT_EQ(o.provider.spec.version, "v1.12.2");
  EXPECT_EQ(testing::StepName(Decide(o)), "Hold");
  o.provider.spec.upgrade_policy.type = api::UpgradeType::kNone;
  EXPECT_EQ(testing::StepName(Decide(o)), "Hold");
  Observation mended = o;
  mended.spec_digest = "a patch that mends it";
  EXPECT_EQ(testing::StepName(Decide(mended)), "Install");
  EXPECT_EQ(mended.provider.spec.version, "v1.12.2");

  o.provider.spec.upgrade_policy.type = kPatch;
  status.available_upgrades = {{"v1.12.3", "v1beta2"}};
  EXPECT_EQ(Chosen(o), "v1.12.3");
  status.available_upgrades.clear();
  o.declared_version = "v1.12.2";  // somebody wants it
  Settle(o);
  EXPECT_EQ(testing::StepName(Decide(o)), "Hold") << "all of it was sent";
  status.applied.clear();
  EXPECT_EQ(testing::StepName(Decide(o)), "Install");
  const api::HistoryEntry entry = BeginRollout(o, InputsDigest(o), "v1.12.2", "v1beta2", "sha256:2");
  EXPECT_EQ(entry.outcome, "Applying") << "with all its time, and no failure";
  EXPECT_EQ(entry.started, FormatTime(o.now));
  EXPECT_EQ(entry.instead_of, "");
  o.declared_version = "v1.12.1";  // or what ran before
  Settle(o);
  EXPECT_EQ(o.provider.spec.version, "v1.12.1");
}

// What is sent, and is refused then, has its time as any other: nobody has asked for it. Old pods serve on meanwhile.
TEST(Policy, WhatIsRefusedHalfWayEnds_U13) {
  const struct {
    std::string_view what;
    const char* instead_of;
    api::OnFailure on_failure;
    Millis late;
    std::string step, back;
    const char* reason = "InstallFailed";
    bool too_late = true;  // a try was refused when its time was over
  } cases[] = {
      {"in time", "v1.12.0", api::OnFailure::kHold, -Seconds(5), "Install", ""},
      {"it is left", "v1.12.0", api::OnFailure::kHold, Seconds(5), "GiveUp", ""},
      {"it goes back", "v1.12.0", api::OnFailure::kRollback, Seconds(5), "Install", "v1.12.1"},
      {"nobody has tried since", "v1.12.0", api::OnFailure::kHold, Seconds(5), "Install", "", "InstallFailed", false},
      {"nor to go back", "v1.12.0", api::OnFailure::kRollback, Seconds(5), "Install", "", "InstallFailed", false},
      {"a value was missing", "v1.12.0", api::OnFailure::kHold, Seconds(5), "Install", "", "MissingVariables", false},
      {"a person's", "", api::OnFailure::kRollback, Seconds(5), "Install", ""},
      {"a value is missing", "v1.12.0", api::OnFailure::kHold, Seconds(5), "GiveUp", "", "MissingVariables"},
      {"in time", "v1.12.0", api::OnFailure::kHold, -Seconds(5), "Install", "", "MissingVariables"},
      {"it isn't verified", "v1.12.0", api::OnFailure::kHold, Seconds(5), "GiveUp", "", "VerificationFailed"},
      {"a person's value", "", api::OnFailure::kHold, Seconds(5), "Install", "", "MissingVariables"},
      {"it was stopped half-way", "v1.12.0", api::OnFailure::kHold, Seconds(5), "Install", "", "WorkloadsNotReady"},
      {"an outage", "v1.12.0", api::OnFailure::kHold, Seconds(5), "Install", "", "APIServerUnavailable"},
      {"its source is away", "v1.12.0", api::OnFailure::kHold, Seconds(5), "Install", "", "SourceUnreachable"},
      {"it waited for the core", "v1.12.0", api::OnFailure::kHold, Seconds(5), "Install", "",
       "WaitingForCoreProviderReady"},
  };
  for (const auto& c : cases) {
    Observation o = Begun("Applying", c.instead_of);
    auto& status = o.provider.status;
    status.conditions = {{"Ready", "False", c.reason, "no luck (next try at 2027-01-15T08:00:00Z)", 1, ""}};
    o.provider.spec.rollout.on_failure = c.on_failure;
    status.history.front().started = FormatTime(o.now - o.provider.spec.rollout.timeout - c.late);
    const bool ends = c.too_late && IsRefusedTooLate(o, c.reason);
    EXPECT_FALSE(IsRefusedTooLate(o, "APIServerUnavailable"));
    EXPECT_FALSE(IsRefusedTooLate(o, "WaitingForCoreProviderReady"));
    if (ends) status.history.front() = EndTime(o);
    const Step step = Decide(o);
    EXPECT_EQ(testing::StepName(step), c.step) << c.what;
    if (const auto* install = std::get_if<Install>(&step)) EXPECT_EQ(install->rollback_to, c.back) << c.what;
    if (c.step != "GiveUp") continue;
    status.history.front() = GiveUpRollout(o, o.fleet).entry;
    EXPECT_THAT(status.history.front().message, ::testing::HasSubstr(std::string(c.reason) + ": no luck;"));
    EXPECT_EQ(testing::StepName(Decide(o)), "Install") << "it may be taken by now";
    status.available_upgrades = {{"v1.12.3", "v1beta2"}};
    EXPECT_EQ(Chosen(o), "v1.12.3");
  }
}

// Of what was sent in part, and the rest refused, old pods serve: they were a sign that it may be given up, though
// nobody had tried since the last leader died. When nothing is refused any more it has come up, however late.
TEST(Policy, NobodyGivesUpWhatNobodyHasTried_U13) {
  Observation o = Begun("RollingOut");
  auto& status = o.provider.status;
  status.conditions = {{"Ready", "False", "InstallFailed", "no luck", 1, ""}};
  status.history.front().started = FormatTime(o.now - kHour);
  EXPECT_EQ(testing::StepName(Decide(o)), "Install");
  Observation first = o;
  first.provider.status.conditions[0].reason = "APIServerUnavailable";
  EXPECT_FALSE(IsRefusedTooLate(first, "InstallFailed")) << "the first refusal after an outage";
  EXPECT_TRUE(IsRefusedTooLate(o, "InstallFailed"));
  status.history.front() = EndTime(o);
  EXPECT_EQ(testing::StepName(Decide(o)), "GiveUp");
  status.conditions[0].reason = "APIServerUnavailable";
  EXPECT_EQ(testing::StepName(Decide(o)), "GiveUp") << "whatever was met since";
}

// It isn't looked at again then, and what could be applied to mend it takes no room of an entry.
TEST(Policy, WhatHeldAChoiceIsToldWithoutItsNextTry_U13) {
  const char* messages[] = {
      "no luck (next try at 2027-01-15T08:00:00Z)",
      "no luck (next try at 2027-01-15T08:00:00Z)\nkind: ClusterRole\n",
      "no luck (looked at again when an input changes, and now and then)",
      "no luck (looked at again when an input changes, and now and then)\nkind: ClusterRole\n",
      "no luck",
  };
  for (const char* message : messages) {
    Observation o = Begun("Applying");
    o.provider.status.conditions = {{"Ready", "False", "MissingVariables", message, 1, ""}};
    EXPECT_EQ(EndTime(o).message,
              "v1.12.2 wasn't healthy within 10m (spec.rollout.timeout): MissingVariables: no luck; pods of each "
              "workload still serve");
  }
}

// What is given up while spec.version names another version by now stays the policy's, or becomes the person's.
TEST(Policy, AChoiceThatFailsIsHeldWhateverIsDeclaredMeanwhile_U13) {
  const struct {
    const char *declared, *instead_of;
  } cases[] = {{"v1.12.0", "v1.12.0"}, {"v1.12.1", "v1.12.1"}, {"v1.11.0", "v1.11.0"}, {"v1.12.2", ""}};
  for (const auto& c : cases) {
    Observation o = Begun("RollingOut");
    auto& status = o.provider.status;
    o.declared_version = c.declared;
    Settle(o);
    EXPECT_EQ(o.provider.spec.version, "v1.12.2") << c.declared;
    status.history.front().inputs = InputsDigest(o);
    EXPECT_EQ(RollbackEntry(o).instead_of, c.instead_of);
    status.history.front() = GiveUpRollout(o, o.fleet).entry;
    EXPECT_EQ(status.history.front().instead_of, c.instead_of);
    Settle(o);
    EXPECT_EQ(o.provider.spec.version, "v1.12.2") << c.declared;
  }
}

// What stands in the way of every change is waited for as ever: no pass follows at once.
TEST(Policy, NothingIsChosenThatAPreflightHolds_U13) {
  Observation o = Left();
  o.provider.status.available_upgrades = {{"v1.12.3", "v1beta2"}};
  EXPECT_TRUE(GoesOnByPolicy(o));
  o.additional_manifests = Referenced{{"more", "aws-system"}, false, ""};
  EXPECT_EQ(testing::StepName(Decide(o)), "Hold");
  EXPECT_FALSE(GoesOnByPolicy(o));
  o.additional_manifests.reset();
  o.provider.spec.upgrade_policy.type = api::UpgradeType::kNone;
  EXPECT_FALSE(GoesOnByPolicy(o));
}

// The floor with other inputs that failed: they are mended as anybody's.
TEST(Policy, OtherInputsOfWhatRunsAreRolledOut_U13) {
  Observation o = Moved();
  auto& status = o.provider.status;
  status.available_upgrades.clear();
  o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kFailed)};
  o.spec_digest = "a patch that breaks it";
  status.history.insert(status.history.begin(), Entry("v1.12.1", "Failed", "v1.12.0"));
  status.history.front().inputs = status.applied = InputsDigest(o);
  Settle(o);
  EXPECT_EQ(testing::StepName(Decide(o)), "Hold");
  o.spec_digest = "one that mends it";
  EXPECT_EQ(testing::StepName(Decide(o)), "Install");
}

// However often something fails since.
TEST(Policy, NoFailuresPushOutWhatItHasInstalled_U13) {
  Observation o = Moved();
  auto& history = o.provider.status.history;
  FailOften(history, "v1.12.1", "v1.12.0");
  EXPECT_EQ(api::PolicyFloor(o.provider.status), "v1.12.1");
  Settle(o);
  EXPECT_EQ(o.provider.spec.version, "v1.12.1");
}

// Nor what it would choose again, nor that it has installed what somebody has declared since.
TEST(Policy, NoChangesPushOutWhatItHasToKnow_U13) {
  Observation o = Moved();
  auto& history = o.provider.status.history;
  history.insert(history.begin(), Entry("v1.12.3", "RolledBack", "v1.12.0"));
  api::HistoryEntry named = Entry("v1.12.1", "Succeeded");
  named.inputs = "named";
  PutEntry(history, named);
  Succeed(history, o.now);
  FailOften(history, "v1.12.1");
  EXPECT_EQ(history.size(), 10u);
  EXPECT_TRUE(api::HasFailed(o.provider.status, "v1.12.3"));
  EXPECT_EQ(api::PolicyFloor(o.provider.status), "v1.12.1");
}

// What a person has begun stays the person's, whatever is declared when it fails.
TEST(Policy, NothingIsTakenForAChoiceThatWasNone_U13) {
  const struct {
    const char *instead_of, *declared, *after;
  } cases[] = {{"", "v1.12.1", ""}, {"v1.12.0", "", "v1.12.0"}, {"", "", ""}};
  for (const auto& c : cases) {
    Observation o = Begun("RollingOut", c.instead_of);
    o.declared_version = c.declared;
    EXPECT_EQ(GiveUpRollout(o, o.fleet).entry.instead_of, c.after);
    EXPECT_EQ(RollbackEntry(o).instead_of, c.after);
  }
}

}  // namespace
}  // namespace capi::ops
