#include "operator/decide/rollout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/reasons.h"
#include "operator/decide/rollout_testing.h"
#include "operator/report/summarize.h"

namespace capi::ops {
namespace {

using api::HistoryEntry;
using ::testing::ElementsAre;
using testing::Entry;
using ::testing::HasSubstr;
using testing::Name;
using testing::Upgrading;
namespace outcome = api::outcome;

// U4, U11: what a change leaves behind is decided when it is announced, and again when it is rolled back.
TEST(IsAnnounced, TellsAChangeFromItsWayBack) {
  for (bool rollback : {false, true}) {
    api::ProviderStatus status;
    EXPECT_FALSE(IsAnnounced(status, "x", rollback));
    for (auto how : {outcome::kApplying, outcome::kRollingOut, outcome::kFailed, outcome::kSucceeded}) {
      status.history = {Entry("v1.12.0", how, "x")};
      EXPECT_EQ(IsAnnounced(status, "x", rollback), !rollback) << how;
      EXPECT_FALSE(IsAnnounced(status, "y", rollback)) << how;
    }
    for (auto how : {outcome::kRollingBack, outcome::kRolledBack}) {
      status.history = {Entry("v1.12.0", how, "x")};
      EXPECT_EQ(IsAnnounced(status, "x", rollback), rollback) << how;
    }
  }
}

struct Case {
  std::string name;
  std::string_view outcome;
  void (*change)(Observation&);
  std::string step;
};

void Check(const Case& c) {
  SCOPED_TRACE(c.name);
  Observation o = Upgrading(c.outcome);
  c.change(o);
  EXPECT_EQ(Name(FollowRollout(o, InputsDigest(o))), c.step);
}

TEST(FollowRollout, SaysWhatTheChangeAsksFor) {
  const auto late = [](Observation& o) { o.now += std::chrono::minutes(10); };
  const Case cases[] = {
      {"U2 its pods come up", outcome::kRollingOut, [](Observation&) {}, "await"},
      {"U2 they are up: the last stages", outcome::kRollingOut, [](Observation& o) { o.fleet.workloads.clear(); },
       "go on"},
      {"U2 an old pod is left", outcome::kRollingOut,
       [](Observation& o) {
         o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kCurrent)};
         o.fleet.workloads[0].terminating = 1;
       },
       "await"},
      {"U7 it was interrupted", outcome::kApplying, [](Observation&) {}, "go on"},
      {"D1 something is gone meanwhile", outcome::kRollingOut,
       [](Observation& o) {
         o.fleet.drifts = {{testing::DeploymentId(), true, {}, {}}};
       },
       "go on"},
      {"U5 Hold gives up", outcome::kRollingOut, late, "give up"},
      {"U5 a longer time-out", outcome::kRollingOut,
       [](Observation& o) {
         o.now += std::chrono::minutes(10);
         o.provider.spec.rollout.timeout = std::chrono::hours(1);
       },
       "await"},
      {"U5 what failed isn't tried again", outcome::kFailed, [](Observation&) {}, "hold RolloutTimedOut"},
      {"U5 but goes on when it comes up late", outcome::kFailed, [](Observation& o) { o.fleet.workloads.clear(); },
       "go on"},
      {"U5 a first installation has a reason of its own", outcome::kFailed,
       [](Observation& o) { o.provider.status.history.pop_back(); }, "hold TimedOutWaitingForDeployment"},
      {"a finished one asks for nothing", outcome::kSucceeded, [](Observation&) {}, "go on"},
  };
  for (const auto& c : cases) Check(c);
}

// U5: a workload of a staged upgrade was deleted, and a policy or a quota refused to have it back, or the webhook that
// judges it was away. Each look sent it again before it asked for the time, so that the change was neither given up nor
// rolled back, for good. A try that is refused between the stages leaves the change as one that is being sent, one
// after them as rolling out. An outage of the API server is no reason to give anything up.
TEST(FollowRollout, TheTimeEndsForWhatCanNotBePutBack) {
  struct LateCase {
    std::string_view name, outcome;
    bool applied, late, gone, refused;
    std::string_view hold, rollback;  // the step, by what spec.rollout.onFailure says
  };
  const LateCase cases[] = {
      {"between the stages", outcome::kRollingOut, false, true, true, true, "give up", "install v1.11.0"},
      {"as one that is being sent", outcome::kApplying, false, true, true, true, "give up", "install v1.11.0"},
      {"after them", outcome::kRollingOut, true, true, true, true, "give up", "install v1.11.0"},
      {"U7 the API server was away when it was tried", outcome::kRollingOut, false, true, true, false, "go on",
       "go on"},
      {"U7, U9 nor what was interrupted between a deletion and its apply", outcome::kApplying, false, true, true, false,
       "go on", "go on"},
      {"there is time left", outcome::kRollingOut, false, false, true, true, "go on", "go on"},
      {"and while it is being sent", outcome::kApplying, false, false, true, true, "go on", "go on"},
      {"U7 interrupted, with everything there", outcome::kApplying, false, true, false, true, "go on", "go on"},
      {"D1 given up, it is still put back", outcome::kFailed, false, true, true, true, "go on", "go on"},
  };
  for (const LateCase& c : cases) {
    for (auto on_failure : {api::OnFailure::kHold, api::OnFailure::kRollback}) {
      SCOPED_TRACE(c.name);
      Observation o = Upgrading(c.outcome);
      if (c.applied) o.provider.status.applied = InputsDigest(o);
      if (c.late) o.now += std::chrono::minutes(10);
      if (c.gone) o.fleet.drifts = {{testing::DeploymentId(), true, {}, {}}};
      const char* reason = c.applied ? "InstallFailed" : "DryRunFailed";  // of the first try, and of those after it
      o.provider.status.conditions = {
          {.type = "Ready", .status = "False", .reason = c.refused ? reason : "APIServerUnavailable"}};
      o.provider.spec.rollout.on_failure = on_failure;
      EXPECT_EQ(Name(FollowRollout(o, InputsDigest(o))), on_failure == api::OnFailure::kHold ? c.hold : c.rollback);
      if (c.outcome == outcome::kApplying) {  // D2: neither does a time at which it isn't tried
        for (Drift& drift : o.fleet.drifts) drift.wait = Seconds(10);
        EXPECT_EQ(Name(FollowRollout(o, InputsDigest(o))), on_failure == api::OnFailure::kHold ? c.hold : c.rollback);
      }
    }
  }
}

// U5: the end of that time was noticed at the next look by chance, ten minutes late.
TEST(RolloutEndsIn, WhatIsLeftOfAChangeThatIsNotOver) {
  for (auto how : {outcome::kApplying, outcome::kRollingOut}) EXPECT_EQ(RolloutEndsIn(Upgrading(how)), Seconds(540));
  for (auto how : {outcome::kFailed, outcome::kRolledBack, outcome::kSucceeded}) {
    EXPECT_EQ(RolloutEndsIn(Upgrading(how)), std::nullopt) << how;
  }
  Observation o = Upgrading();
  o.now += std::chrono::minutes(9);
  EXPECT_EQ(RolloutEndsIn(o), std::nullopt) << "it is over";
  o.provider.status.history.clear();
  EXPECT_EQ(RolloutEndsIn(o), std::nullopt);
}

TEST(MarkSent, WhatFailedHasFailedUntilItComesUp) {
  for (auto [how, rollback, is] : {std::tuple{outcome::kApplying, false, outcome::kRollingOut},
                                   {outcome::kFailed, false, outcome::kFailed},
                                   {outcome::kApplying, true, outcome::kRollingBack}}) {
    HistoryEntry entry = Entry("v1.12.0", how, "x");
    MarkSent(entry, rollback);
    EXPECT_EQ(entry.outcome, is) << how;
  }
}

TEST(FollowRollout, RollsBackWhereThatIsWanted) {
  const auto change_keys = [](Observation& o) {
    o.keys_secret = Referenced{{"keys", "aws-system"}, true, "u/1"};
    o.provider.status.history.front().inputs = InputsDigest(o);
    o.keys_secret->stamp = "u/2";
    ASSERT_NE(InputsDigest(o), o.provider.status.history.front().inputs) << "they are looked at";
  };
  const Case cases[] = {
      {"U5 Rollback goes back", outcome::kRollingOut,
       [](Observation& o) {
         o.now += std::chrono::minutes(10);
         o.provider.spec.rollout.on_failure = api::OnFailure::kRollback;
       },
       "install v1.11.0"},
      {"U5 Rollback needs the release", outcome::kRollingOut,
       [](Observation& o) {
         o.now += std::chrono::minutes(10);
         o.provider.spec.rollout.on_failure = api::OnFailure::kRollback;
         o.releases.pop_back();
       },
       "give up"},
      {"U5 Rollback is for changes of version", outcome::kRollingOut,
       [](Observation& o) {
         o.now += std::chrono::minutes(10);
         o.provider.spec.rollout.on_failure = api::OnFailure::kRollback;
         o.provider.status.history[1].version = "v1.12.0";
       },
       "give up"},
      {"U7 a rollback that was interrupted", outcome::kRollingBack, [](Observation&) {}, "install v1.11.0"},
      {"U5 rolled back", outcome::kRolledBack, [](Observation&) {}, "hold RolledBack"},
      {"T14 and now there is another key", outcome::kRolledBack, change_keys, "hold RolledBack"},
      {"T14 it failed with other keys", outcome::kFailed, change_keys, "hold RolloutTimedOut"},
      {"D1 while rolled back", outcome::kRolledBack,
       [](Observation& o) {
         o.fleet.drifts = {{testing::DeploymentId(), true, {}, {}}};
       },
       "install v1.11.0"},
      {"U4 what only the failed release had", outcome::kRolledBack,
       [](Observation& o) {
         o.fleet.workloads.clear();
         o.inventory.Put({"", "ConfigMap", "aws-system", "new"}, {"v1", "h", "f", true});
       },
       "prune"},
  };
  for (const auto& c : cases) Check(c);
}

// U5: rolled back, it says whether what runs again is well, and removes nothing while that isn't.
TEST(FollowRollout, SaysHowTheLastGoodReleaseIs) {
  Observation o = Upgrading(outcome::kRolledBack);
  auto message = [&] { return std::get<Hold>(*FollowRollout(o, InputsDigest(o))).message; };
  EXPECT_THAT(message(), HasSubstr("v1.11.0 isn't healthy either: Deployment capa-controller-manager"));
  o.inventory.Put({"", "ConfigMap", "aws-system", "new"}, {"v1", "h", "f", true});
  EXPECT_EQ(Name(FollowRollout(o, InputsDigest(o))), "hold RolledBack");
  o.inventory = {};
  o.fleet.workloads.clear();
  EXPECT_THAT(message(), ::testing::Not(HasSubstr("isn't healthy")));
}

// I7: until then something of the former change may run.
TEST(HasRolledOut, WhenNothingFormerIsLeft) {
  struct Case {
    std::string_view name;
    std::string_view outcome, applied;
    bool stale, ended;
  };
  const Case cases[] = {
      {"it came up", outcome::kSucceeded, "x", false, true},
      {"its pods come up", outcome::kRollingOut, "x", false, false},
      {"they didn't in time", outcome::kFailed, "x", false, false},
      {"something of the former one is to be pruned", outcome::kSucceeded, "x", true, false},
      {"the next one is announced", outcome::kApplying, "", false, false},
      {"it was rolled back", outcome::kRolledBack, "", false, false},
      {"a pause has ended", outcome::kSucceeded, "", false, false},
  };
  for (const Case& c : cases) {
    Observation o = Upgrading(c.outcome);
    o.provider.status.applied = c.applied;
    o.inventory.Put({"", "ConfigMap", "aws-system", "one"}, {"v1", "h", "f", c.stale});
    EXPECT_EQ(HasRolledOut(o), c.ended) << c.name;
  }
  EXPECT_FALSE(HasRolledOut(testing::Observed())) << "nothing was installed yet";
}

TEST(NotReady, NamesAllThatIsMissing) {
  Fleet fleet;
  EXPECT_EQ(NotReady(fleet), "");
  fleet.workloads = {testing::NewWorkload(kube::HealthState::kCurrent)};
  EXPECT_EQ(NotReady(fleet), "");
  fleet.workloads[0].terminating = 2;
  EXPECT_EQ(NotReady(fleet), "Deployment capa-controller-manager: 2 old pods are going");
  fleet.workloads = {testing::NewWorkload(kube::HealthState::kInProgress, "0 of 1")};
  EXPECT_EQ(NotReady(fleet), "Deployment capa-controller-manager: 0 of 1");
  fleet.workloads[0].exists = false;
  EXPECT_EQ(NotReady(fleet), "Deployment capa-controller-manager: doesn't exist");
  fleet.workloads.clear();
  fleet.pending_crds = {"as.x"};
  EXPECT_EQ(NotReady(fleet), "CRDs not yet established: as.x");
}

TEST(FollowRollout, AnotherInputIsAnotherChange) {
  Observation o = Upgrading(outcome::kFailed);
  o.spec_digest = "other";
  EXPECT_EQ(Name(FollowRollout(o, InputsDigest(o))), "go on") << "U5: the failure is remembered for its inputs alone";
  EXPECT_EQ(Name(FollowRollout(o, "")), "go on");
}

TEST(FollowRollout, ARestartGivesNoMoreTime) {
  Observation o = Upgrading();
  auto entry = BeginRollout(o, InputsDigest(o), "v1.12.0", "v1beta2", "sha256:2");
  EXPECT_EQ(entry.started, o.provider.status.history.front().started);
  EXPECT_NE(BeginRollout(o, "other", "v1.12.0", "v1beta2", "sha256:2").started, entry.started);
}

// U5: what a failed change has lost is put back, which is announced as any change is. While that was refused, the
// change was one that is being sent, whose time is over: it failed again at every other look.
TEST(BeginRollout, WhatFailedHasFailedUntilItComesUp) {
  Observation o = Upgrading(outcome::kFailed);
  auto entry = BeginRollout(o, InputsDigest(o), "v1.12.0", "v1beta2", "sha256:2");
  EXPECT_EQ(entry.outcome, outcome::kFailed);
  EXPECT_EQ(entry.message, "the pods crash");
  EXPECT_EQ(entry.time, o.provider.status.history.front().time) << "when it failed, and not when it began";
  EXPECT_EQ(BeginRollout(o, "other", "v1.12.0", "v1beta2", "sha256:2").outcome, outcome::kApplying);
  o.provider.status.history.front().outcome = outcome::kRollingOut;
  EXPECT_EQ(BeginRollout(o, InputsDigest(o), "v1.12.0", "v1beta2", "sha256:2").outcome, outcome::kApplying);
}

std::vector<std::string> Texts(const std::vector<HistoryEntry>& history) {
  std::vector<std::string> out;
  for (const auto& entry : history) out.push_back(entry.version + " " + entry.outcome);
  return out;
}

TEST(History, KeepsWhatMatters) {
  std::vector<HistoryEntry> history = {Entry("v1.0.0", outcome::kSucceeded, "a")};
  PutEntry(history, Entry("v1.1.0", outcome::kApplying, "b"));
  PutEntry(history, Entry("v1.1.0", outcome::kRollingOut, "b"));
  EXPECT_THAT(Texts(history), ElementsAre("v1.1.0 RollingOut", "v1.0.0 Succeeded"));
  PutEntry(history, Entry("v1.2.0", outcome::kApplying, "c"));
  EXPECT_THAT(Texts(history), ElementsAre("v1.2.0 Applying", "v1.0.0 Succeeded")) << "the one before was given up";
  history.front().outcome = outcome::kFailed;
  PutEntry(history, Entry("v1.1.1", outcome::kRollingOut, "d"));
  Succeed(history, WallTime(Seconds(1'800'000'000)));
  EXPECT_THAT(Texts(history), ElementsAre("v1.1.1 Succeeded", "v1.2.0 Failed", "v1.0.0 Succeeded"));
  EXPECT_EQ(LastGood({.history = history}, history.front())->version, "v1.0.0");

  PutEntry(history, Entry("v1.3.0", outcome::kFailed, "f"));
  PutEntry(history, Entry("v1.3.0", outcome::kRollingBack, "f"));
  EXPECT_THAT(Texts(history).front(), "v1.3.0 RollingBack");
  EXPECT_EQ(history.size(), 4u) << "the same change";
  PutEntry(history, Entry("v1.3.0", outcome::kRollingBack, "f-keys"));
  EXPECT_EQ(history.size(), 4u) << "with other keys to verify by, T14";
  history.erase(history.begin());

  PutEntry(history, Entry("v1.1.1", outcome::kRollingOut, "e"));
  Succeed(history, WallTime(Seconds(1'800'000'000)));
  EXPECT_EQ(history.size(), 3u) << "the same release with another declaration";
}

TEST(History, IsBoundedAndNeverLosesTheLastGoodRelease) {
  std::vector<HistoryEntry> history = {Entry("v1.0.0", outcome::kSucceeded, "good")};
  for (int i = 0; i < 30; ++i) PutEntry(history, Entry("v1.1.0", outcome::kFailed, std::to_string(i)));
  EXPECT_EQ(history.size(), 10u);
  ASSERT_NE(LastGood({.history = history}, history.front()), nullptr);
  EXPECT_EQ(LastGood({.history = history}, history.front())->version, "v1.0.0");
}

// U5: what a rollback met that couldn't begin hid why it was to begin: the failed release was sent again instead.
TEST(FollowRollout, ARollbackThatWaitsIsToBeginAllTheSame) {
  Observation o = Upgrading(outcome::kRollingOut);
  o.now += std::chrono::minutes(10);
  o.fleet.drifts = {{testing::DeploymentId(), true, {}, {}}};
  o.provider.spec.rollout.on_failure = api::OnFailure::kRollback;
  for (const char* reason : {"APIServerUnavailable", "ComponentsFetchError", "WaitingForContracts"}) {
    o.provider.status.conditions = {{.type = "Ready", .status = "False", .reason = reason}};
    o.provider.status.history.front().message.clear();
    EXPECT_EQ(Name(FollowRollout(o, InputsDigest(o))), "go on") << reason;
    o.provider.status.history.front() = EndTime(o);
    EXPECT_EQ(Name(FollowRollout(o, InputsDigest(o))), "install v1.11.0") << reason;
  }
}

// U2: between the stages the old version is the installed one, and the conditions say where things are.
TEST(Summarize, AnUpgradeInStagesIsNotReadyBeforeTheLast) {
  Observation o = Upgrading();
  o.provider.status.conditions = {{"ProviderInstalled", "True", "ProviderInstalled", "", 1, ""}};
  Done done;
  done.rollout = o.provider.status.history.front();
  done.fleet = o.fleet;
  auto status = Summarize(o, done);
  auto get = [&](std::string_view type) { return *kube::FindCondition(status.conditions, type); };
  EXPECT_EQ(status.installed_version, "v1.11.0");
  EXPECT_EQ(get("ProviderUpgraded").reason, "Upgrading");
  EXPECT_THAT(get("ProviderUpgraded").message, HasSubstr("Upgrading to v1.12.0: Waiting for Deployment"));
  EXPECT_EQ(get("ProviderInstalled").status, "True");
  EXPECT_EQ(get("Ready").status, "False");

  done.fleet->workloads.clear();
  status = Summarize(o, done);
  EXPECT_EQ(get("Ready").status, "False") << "webhooks and storage versions are still to come";
  EXPECT_EQ(status.history.front().outcome, "RollingOut");
}

}  // namespace
}  // namespace capi::ops
