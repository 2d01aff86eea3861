#include "operator/report/summarize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/reasons.h"
#include "operator/decide/testing_fleet.h"
#include "operator/report/summarize_testing.h"

namespace capi::ops {
namespace {

using testing::Applied;
using testing::Get;
using ::testing::HasSubstr;
using testing::Observed;
using testing::StatusOf;

TEST(Summarize, ReadyIsTheSummary) {
  Observation o = Observed();
  Done done = Applied();
  done.fleet->workloads = {testing::NewWorkload(kube::HealthState::kInProgress, "0 of 1 replicas are available")};
  auto status = Summarize(o, done);
  EXPECT_EQ(StatusOf(status, "PreflightCheckPassed"), "True");
  EXPECT_EQ(StatusOf(status, "ProviderInstalled"), "False") << "I10";
  EXPECT_EQ(StatusOf(status, "Ready"), "False");
  EXPECT_EQ(StatusOf(status, "Reconciling"), "True");
  EXPECT_THAT(Get(status, "Ready")->message, HasSubstr("0 of 1 replicas"));
  EXPECT_EQ(Get(status, "Ready")->reason, "WorkloadsNotReady");
  EXPECT_EQ(status.installed_version, "v1.12.0");

  o.provider.status = status;
  o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kCurrent)};
  status = Summarize(o, Done{});
  EXPECT_EQ(StatusOf(status, "ProviderInstalled"), "True");
  EXPECT_EQ(StatusOf(status, "Ready"), "True");
  EXPECT_EQ(StatusOf(status, "Reconciling"), "");
  EXPECT_EQ(status.history.size(), 1u);
  EXPECT_EQ(status.conditions.front().type, "Ready");
}

// F1, F5: a refusal of 200 objects took the place of the time of the next try, which stands behind it.
TEST(Summarize, ALongMessageKeepsItsNextTry) {
  Observation o = Observed();
  Done done;
  done.hold = Hold{"ProviderInstalled", "InstallFailed", std::string(20'000, 'x'), Retry::kRefused};
  done.hold->next_try = o.now + Seconds(15);
  auto status = Summarize(o, done);
  for (const char* type : {"ProviderInstalled", "Ready", "Stalled"}) {
    EXPECT_THAT(Get(status, type)->message, ::testing::EndsWith("x... (next try at 2027-01-15T08:00:15Z)")) << type;
    EXPECT_LE(Get(status, type)->message.size(), 8192u) << type;
  }
}

// W8a: a wrong version and its correction must not leave a False behind, though nothing has to be applied.
TEST(Summarize, ATypoThatIsTakenBackLeavesNoTrace) {
  Observation o = Observed();
  o.provider.status = Summarize(o, Applied());
  auto good = o.provider.status;
  Done held;
  held.hold = Hold{"PreflightCheckPassed", "IncorrectVersionFormat", "could not parse \"one\" as version"};
  o.provider.generation = 2;
  o.provider.status = Summarize(o, held);
  EXPECT_EQ(StatusOf(o.provider.status, "PreflightCheckPassed"), "False");
  EXPECT_EQ(StatusOf(o.provider.status, "Ready"), "False");
  EXPECT_EQ(StatusOf(o.provider.status, "Stalled"), "True");
  o.provider.generation = 3;
  auto status = Summarize(o, Done{});
  EXPECT_EQ(StatusOf(status, "PreflightCheckPassed"), "True");
  EXPECT_EQ(StatusOf(status, "Ready"), "True");
  EXPECT_EQ(StatusOf(status, "Stalled"), "");
  EXPECT_EQ(Get(status, "Ready")->observed_generation, 3);
}

TEST(Summarize, HoldsSayWhenTheyTryAgain) {
  struct Case {
    Retry retry;
    std::optional<Millis> next_try;
    std::string message, kstatus;
  };
  const Case cases[] = {
      {Retry::kOnChange, {}, "(looked at again when an input changes, and now and then)", "Stalled"},
      {Retry::kWaiting, {}, "waiting for it", "Reconciling"},
      {Retry::kBackoff, Seconds(4), "next try at 2027-01-15T08:00:04Z", "Reconciling"},
      {Retry::kRefused, Seconds(15), "next try at 2027-01-15T08:00:15Z", "Stalled"},
  };
  for (const auto& c : cases) {
    Observation o = Observed();
    Done done;
    done.hold = Hold{"ProviderInstalled", "ComponentsFetchError", "waiting for it", c.retry};
    if (c.next_try) done.hold->next_try = o.now + *c.next_try;
    auto status = Summarize(o, done);
    EXPECT_THAT(Get(status, "ProviderInstalled")->message, HasSubstr(c.message)) << "F1";
    EXPECT_EQ(StatusOf(status, "PreflightCheckPassed"), "True");
    EXPECT_EQ(StatusOf(status, c.kstatus), "True");
    EXPECT_EQ(StatusOf(status, c.kstatus == "Stalled" ? "Reconciling" : "Stalled"), "");
  }
}

TEST(Summarize, UpgradedIsSetOnlyByAnUpgrade) {
  Observation o = Observed();
  o.provider.status = Summarize(o, Applied());
  EXPECT_EQ(StatusOf(o.provider.status, "ProviderUpgraded"), "");
  Done done = Applied();
  done.installed_version = done.rollout->version = "v1.13.0";
  done.applied = done.rollout->inputs = "other";
  done.fleet->workloads = {testing::NewWorkload(kube::HealthState::kInProgress)};
  o.provider.status = Summarize(o, done);
  EXPECT_EQ(StatusOf(o.provider.status, "ProviderUpgraded"), "False");
  auto status = Summarize(o, Done{});
  EXPECT_EQ(StatusOf(status, "ProviderUpgraded"), "True");
  EXPECT_EQ(status.history.size(), 2u);
  EXPECT_EQ(status.history.front().version, "v1.13.0");
}

// U5, F3: an answer that was cut short on the way to an upgrade that fails is forgotten.
TEST(Summarize, AnUpgradeThatFailsLeavesTheProviderInstalled) {
  Observation o = Observed();
  o.provider.status = Summarize(o, Applied());
  Done cut_short;
  cut_short.hold = Hold{"ProviderInstalled", "ComponentsFetchError", "half a body", Retry::kBackoff};
  o.provider.status = Summarize(o, cut_short);
  EXPECT_EQ(StatusOf(o.provider.status, "ProviderInstalled"), "False");
  Done done;
  done.hold = Hold{"ProviderUpgraded", "RolledBack", "v1.13.0 failed, v1.12.0 runs again: no node fits"};
  auto status = Summarize(o, done);
  EXPECT_EQ(StatusOf(status, "ProviderInstalled"), "True");
  EXPECT_EQ(StatusOf(status, "ProviderUpgraded"), "False");
  EXPECT_EQ(StatusOf(status, "Ready"), "False");
}

TEST(Summarize, HandsOffChangesOneConditionAlone) {
  Observation o = Observed();
  o.provider.status = Summarize(o, Applied());
  auto before = o.provider.status;
  Done done;
  done.hands_off = true;
  auto status = Summarize(o, done);
  EXPECT_EQ(StatusOf(status, "Paused"), "True") << "P4";
  EXPECT_EQ(StatusOf(status, "Ready"), StatusOf(before, "Ready"));
  o.provider.status = status;
  EXPECT_EQ(StatusOf(Summarize(o, Done{}), "Paused"), "");
}

// P1: a watch that showed the pause only after the pass had looked for it made the provider Ready at zero replicas.
TEST(Summarize, WhatAPauseScaledIsNotReadyAfterIt) {
  Observation o = Observed();
  Done done{.applied = "inputs", .fleet = Fleet{}};
  done.fleet->workloads = {testing::NewWorkload(kube::HealthState::kCurrent)};
  EXPECT_EQ(StatusOf(Summarize(o, done), "Ready"), "True");
  done.fleet->workloads[0].former = "1";
  EXPECT_EQ(StatusOf(Summarize(o, done), "Ready"), "False");
}

// C5, P2: a change that was applied at zero replicas, and that the watch had not shown yet, made the provider say that
// it was going to zero. The others took the change of contract for done, and started in the middle of it.
TEST(Summarize, WhatIsAppliedAtZeroStaysPaused) {
  struct Case {
    const char* name;
    bool said, idle, at_zero;
    const char* paused;
  };
  const Case cases[] = {
      {"a pause that begins waits for the last pod", false, false, false, "False"},
      {"and for the word that it was the last", false, true, false, "False"},
      {"then it is one", false, true, true, "True"},
      {"what is applied to it starts nothing", true, true, false, "True"},
      {"but for what somebody scales", true, false, false, "False"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Observation o = Observed();
    o.provider.spec.paused = true;
    if (c.said) o.provider.status.conditions = {{"Paused", "True", "Paused", "", 1, ""}};
    Workload workload = testing::NewWorkload(kube::HealthState::kInProgress);
    workload.idle = c.idle;
    workload.at_zero = c.at_zero;
    Done done{.applied = "inputs", .fleet = Fleet{}};
    done.fleet->workloads = {workload};
    EXPECT_EQ(StatusOf(Summarize(o, done), "Paused"), c.paused);
  }
}

// The status that said so of a pause was never written: the end of the pause left Ready as it was before it.
TEST(Summarize, TheEndOfAPauseIsNotReady) {
  Observation o = Observed();
  o.provider.status.conditions = {{"Ready", "True", "WorkloadsReady", "", 1, ""}};
  o.provider.generation = 3;
  api::ProviderStatus is = Summarize(o, Done{.unpausing = true});
  EXPECT_EQ(StatusOf(is, "Ready"), "False");
  EXPECT_EQ(is.observed_generation, 3);
}

// A2, C3: what isn't taken over can't be scaled. It said that it was paused, while it ran, and let a contract change
// go.
TEST(Summarize, WhatIsNotTakenOverIsNotPaused) {
  Observation o = Observed();
  o.provider.spec.paused = true;
  o.former = FormerInstall{"clusterctl", "aws-system", "v1.11.0"};
  Done done{.hold = Hold{"PreflightCheckPassed", "MissingVariables", "AWS_KEY isn't set", Retry::kWaiting}};
  EXPECT_EQ(StatusOf(Summarize(o, done), "Paused"), "");
  o.former.reset();
  EXPECT_EQ(StatusOf(Summarize(o, done), "Paused"), "True");
}

TEST(Summarize, IsStable) {
  Observation o = Observed();
  o.provider.status = Summarize(o, Applied());
  o.now += Seconds(100);
  EXPECT_EQ(Summarize(o, Done{}), o.provider.status) << "a second pass has nothing to write";
}

TEST(Summarize, WarningsStayInSight) {
  Observation o = Observed();
  Done done = Applied();
  done.warnings = std::vector<std::string>{"patch 1 matches no object"};
  o.provider.status = Summarize(o, done);
  auto events = EventsOf({}, o.provider.status, done);
  EXPECT_THAT(events, ::testing::Contains(Event{"Warning", "RenderWarnings", "patch 1 matches no object"}));
  auto status = Summarize(o, Done{});
  EXPECT_THAT(Get(status, "Warnings")->message, HasSubstr("patch 1"));
  EXPECT_EQ(Get(status, "ProviderInstalled")->message, "Provider installed successfully; see condition Warnings");
  EXPECT_EQ(StatusOf(status, "Ready"), "True") << "an inert patch isn't fatal";
  done.warnings = std::vector<std::string>{"patch 2 matches no object"};
  events = EventsOf(o.provider.status, Summarize(o, done), done);
  EXPECT_THAT(events, ::testing::ElementsAre(Event{"Warning", "RenderWarnings", "patch 2 matches no object"}));
  done.warnings->clear();
  EXPECT_EQ(StatusOf(Summarize(o, done), "Warnings"), "");
}

// A message stays valid text, however long it was.
TEST(Summarize, CutsLongMessages) {
  const std::pair<std::string, std::string> cases[] = {
      {std::string(6144, 'a'), std::string(6144, 'a')},
      {std::string(9000, 'a'), std::string(6144, 'a') + "..."},
      {std::string(6143, 'a') + "\xc3\xa9", std::string(6143, 'a') + "..."},
  };
  for (const auto& [message, cut] : cases) {
    Done done;
    done.hold = Hold{"Ready", "InUse", message, Retry::kWaiting};
    EXPECT_EQ(Get(Summarize(Observed(), done), "Ready")->message, cut);
  }
}

// P1, I10: at zero, what is missing are the pods; a CRD that isn't there is told of all the same.
TEST(Summarize, AtZeroOnlyPodsMayBeMissing) {
  Observation o = Observed();
  o.provider.spec.paused = true;
  Done done = Applied();
  done.fleet->workloads = {testing::NewWorkload(kube::HealthState::kInProgress)};
  EXPECT_EQ(Get(Summarize(o, done), "Ready")->reason, "Paused");
  done.fleet->pending_crds = {"as.x"};
  EXPECT_EQ(Get(Summarize(o, done), "Ready")->reason, "CRDsNotEstablished");
}

// I10: a pod that dies leaves a provider installed; a change that was just sent doesn't, and says how it goes on.
TEST(Summarize, InstalledIsWhatWasSentAndCameUp) {
  Observation o = Observed();
  o.provider.status = Summarize(o, Applied());
  o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kInProgress, "first")};
  EXPECT_EQ(StatusOf(Summarize(o, Done{}), "ProviderInstalled"), "True");
  Done done = Applied();
  done.applied = done.rollout->inputs = "other";
  done.fleet->workloads = o.fleet.workloads;
  o.provider.status = Summarize(o, done);
  EXPECT_EQ(StatusOf(o.provider.status, "ProviderInstalled"), "False");
  o.fleet.workloads[0].health.message = "second";
  EXPECT_THAT(Get(Summarize(o, Done{}), "ProviderInstalled")->message, HasSubstr("second"));
}

// P2: neither a spec that can't be read nor a deletion that goes on says anything of a pause.
TEST(Summarize, APauseIsToldOfWhereItIsKnown) {
  Observation o = Observed();
  o.provider.spec.paused = true;
  o.provider.deleting = true;
  Done going{.removing = true}, held{.hold = Hold{"Ready", "InUse", "a cluster", Retry::kWaiting}};
  EXPECT_EQ(StatusOf(Summarize(o, going), "Paused"), "");
  EXPECT_EQ(StatusOf(Summarize(o, held), "Paused"), "True");
  o.spec_error = Error{Code::kInvalidArgument, "spec", {}};
  EXPECT_EQ(StatusOf(Summarize(o, held), "Paused"), "");
}

// P4: the annotation is gone, and so is what it said; a pause of our own isn't, though the spec can't be read.
TEST(Summarize, WhatHandsOffSaidGoesWithIt) {
  Observation o = Observed();
  o.spec_error = Error{Code::kInvalidArgument, "spec", {}};
  for (const char* reason : {"HandsOff", "Paused"}) {
    o.provider.status.conditions = {{"Paused", "True", reason, "", 1, ""}};
    EXPECT_EQ(StatusOf(Summarize(o, Done{}), "Paused"), reason == std::string("Paused") ? "True" : "");
  }
}

// C1: what has no contract yet, or no core, is compatible with nothing.
TEST(Summarize, ContractsAreComparedWhereThereAreTwo) {
  Observation o = Observed();
  EXPECT_EQ(StatusOf(Summarize(o, Done{}), "ContractCompatible"), "");
  o.provider.status.contract = "v1beta2";
  EXPECT_EQ(StatusOf(Summarize(o, Done{}), "ContractCompatible"), "True");
  o.provider.status.contract = "v1alpha4";
  EXPECT_EQ(StatusOf(Summarize(o, Done{}), "ContractCompatible"), "False");
  o.core = nullptr;
  EXPECT_EQ(StatusOf(Summarize(o, Done{}), "ContractCompatible"), "");
}

// C3, C5: the others judge by what is wanted as long as it is.
TEST(Summarize, WhatIsWantedIsSaidWhileItIsOfUse) {
  struct Case {
    std::string name, installed, wanted, said;
    void (*change)(Observation&, Done&);
    std::string kept;
  };
  const auto nothing = [](Observation&, Done&) {};
  const auto held_at_zero = [](Observation& o, Done& done) {
    o.provider.status.conditions = {{"Paused", "True", "Paused", "", 1, ""}};
    done.hold = Hold{"PreflightCheckPassed", "SecretNotFound", "", Retry::kWaiting};
  };
  const Case cases[] = {
      {"on its way", "v1.11.0", "v1.12.0", "v1.12.0", nothing, "v1.12.0"},
      {"there", "v1.12.0", "v1.12.0", "v1.12.0", nothing, ""},
      {"another one is wanted", "v1.11.0", "v1.12.0", "v1.13.0", nothing, ""},
      {"never installed", "", "v1.12.0", "v1.12.0", nothing, ""},
      {"nothing is wanted", "v1.11.0", "", "v1.12.0", held_at_zero, ""},
      {"nobody can read what", "v1.11.0", "v1.12.0", "v1.12.0",
       [](Observation& o, Done&) {
         o.spec_error = Error{Code::kInvalidArgument, "spec", {}};
       },
       ""},
      {"held, and to be unpaused: nobody waits for its contract", "v1.11.0", "v1.12.0", "", held_at_zero, "v1.12.0"},
      {"held, and paused", "v1.11.0", "v1.12.0", "",
       [](Observation& o, Done& done) {
         o.provider.spec.paused = true;
         done.hold = Hold{"PreflightCheckPassed", "SecretNotFound", "", Retry::kWaiting};
       },
       ""},
      {"held, and running", "v1.11.0", "v1.12.0", "",
       [](Observation&, Done& done) {
         done.hold = Hold{"PreflightCheckPassed", "SecretNotFound", "", Retry::kWaiting};
       },
       ""},
      {"at zero, and not held", "v1.11.0", "v1.12.0", "",
       [](Observation& o, Done&) {
         o.provider.status.conditions = {{"Paused", "True", "Paused", "", 1, ""}};
       },
       ""},
      {"there, and held at zero", "v1.12.0", "v1.12.0", "", held_at_zero, ""},
  };
  for (const Case& c : cases) {
    Observation o = Observed();
    Done done;
    o.provider.status.installed_version = c.installed;
    o.provider.spec.version = c.wanted;
    o.provider.status.desired_version = c.said;
    c.change(o, done);
    EXPECT_EQ(Summarize(o, done).desired_version, c.kept) << c.name;
  }
}

// U5: only the change whose inputs are applied has come to its end.
TEST(Summarize, AnotherChangeIsNotTheEndOfThisOne) {
  Observation o = Observed();
  o.provider.status = Summarize(o, Applied());
  for (const char* outcome : {"RollingOut", "Applying"}) {
    o.provider.status.history.front().inputs = "of another";
    o.provider.status.history.front().outcome = outcome;
    EXPECT_EQ(Summarize(o, Done{}).history.front().outcome, outcome);
  }
}

// U5, T14: it was sent with one key, and verified with another one meanwhile.
TEST(Summarize, AChangeEndsWithOtherKeysToo) {
  Observation o = Observed();
  o.provider.status = Summarize(o, Applied());
  o.provider.status.applied = "inputs-keys";
  o.provider.status.history.front().inputs = "inputs-other";
  o.provider.status.history.front().outcome = "RollingOut";
  EXPECT_EQ(Summarize(o, Done{}).history.front().outcome, "Succeeded");
}

// U2: what was announced and not sent yet says nothing of its workloads.
TEST(Summarize, NothingIsReadyBeforeItIsSent) {
  Observation o = Observed();
  EXPECT_EQ(StatusOf(Summarize(o, Done{}), "Ready"), "");
  o.provider.status.history.emplace_back().outcome = "Applying";
  EXPECT_EQ(StatusOf(Summarize(o, Done{}), "Ready"), "");
  o.provider.status.history.front().outcome = "RollingOut";
  EXPECT_EQ(StatusOf(Summarize(o, Done{}), "Ready"), "False");
}

// U5: a way back is no upgrade.
TEST(Summarize, ARollbackBeginsNoUpgrade) {
  Observation o = Observed();
  o.provider.status.installed_version = "v1.11.0";
  Done done;
  done.rollout = api::HistoryEntry{"v1.12.0", "v1beta2", "sha256:1"};
  for (const char* outcome : {"RollingBack", "RollingOut"}) {
    done.rollout->outcome = outcome;
    EXPECT_EQ(StatusOf(Summarize(o, done), "ProviderUpgraded"), outcome == std::string("RollingOut") ? "False" : "");
  }
}

// U3: absent until there was something to migrate.
TEST(Summarize, MigrationIsToldOfFromItsBeginningToItsEnd) {
  Observation o = Observed();
  EXPECT_EQ(Get(Summarize(o, Done{}), "StorageMigrated"), nullptr);
  o.fleet.unmigrated.emplace_back().name = "as.x";
  o.provider.status = Summarize(o, Done{});
  EXPECT_EQ(Get(o.provider.status, "StorageMigrated")->reason, "MigratingStorage");
  o.fleet.unmigrated[0].migration.objects = 300;
  EXPECT_THAT(Get(Summarize(o, Done{}), "StorageMigrated")->message, HasSubstr("300 are written anew"));
  o.fleet.unmigrated[0].migration.error = Error{Code::kInternal, "no endpoints", {}};
  EXPECT_EQ(Get(Summarize(o, Done{}), "StorageMigrated")->reason, "StorageMigrationFailed");
  EXPECT_THAT(Get(Summarize(o, Done{}), "StorageMigrated")->message, HasSubstr("no endpoints"));
  Observation at_zero = o;
  at_zero.provider.spec.paused = true;
  EXPECT_EQ(Get(Summarize(at_zero, Done{}), "StorageMigrated")->reason, "MigratingStorage");
  EXPECT_THAT(Get(Summarize(at_zero, Done{}), "StorageMigrated")->message,
              ::testing::EndsWith("they are migrated when the provider's workloads run again"))
      << "P3: it isn't tried at zero";
  o.fleet.unmigrated.clear();
  EXPECT_EQ(StatusOf(Summarize(o, Done{}), "StorageMigrated"), "True");
}

// D2.
TEST(Summarize, AFightIsToldOfUntilItEnds) {
  Observation o = Observed();
  EXPECT_EQ(Get(Summarize(o, Done{}), "Drifted"), nullptr);
  o.fights.emplace_back();
  o.provider.status = Summarize(o, Done{});
  EXPECT_EQ(StatusOf(o.provider.status, "Drifted"), "True");
  o.fights.clear();
  EXPECT_EQ(Get(Summarize(o, Done{}), "Drifted")->reason, "NoDrift");
}

// F1: `kubectl describe` said nothing of a Secret that isn't there: no event told what a provider waits for.
TEST(EventsOf, TellWhatHoldsItBack) {
  struct Case {
    Retry retry;
    const char* reason;
    const char* told;
  };
  for (const Case& c : {
           Case{Retry::kBackoff, "SourceUnreachable", "Warning SourceUnreachable"},
           {Retry::kAt, "RateLimited", "Warning RateLimited"},
           {Retry::kPolled, "NotPermitted", "Warning NotPermitted"},
           {Retry::kOnChange, "InvalidComponents", "Warning InvalidComponents"},
           {Retry::kWaiting, "SecretNotFound", "Warning SecretNotFound"},
           {Retry::kWaiting, "WaitingForPause", "Warning WaitingForPause"},
           {Retry::kWaiting, "WaitingForCoreProviderReady", "Normal WaitingForCoreProviderReady"},
           {Retry::kTurn, "WaitingForSource", "Normal WaitingForSource"},  // T13
       }) {
    Done done;
    done.hold = Hold{"ProviderInstalled", c.reason, "why", c.retry, Seconds(1)};
    auto status = Summarize(Observed(), done);
    auto events = EventsOf({}, status, done);
    ASSERT_EQ(events.size(), 1u) << c.reason;
    EXPECT_EQ(events[0].type + " " + events[0].reason, c.told);
    EXPECT_THAT(events[0].message, HasSubstr("why"));
    EXPECT_TRUE(EventsOf(status, status, done).empty()) << "once";
  }
  Done installing = Applied();
  installing.fleet->workloads = {testing::NewWorkload(kube::HealthState::kInProgress)};
  EXPECT_TRUE(EventsOf({}, Summarize(Observed(), installing), installing).empty()) << "it is at work";
}

TEST(EventsOf, TellsTheDifferenceOnce) {
  Observation o = Observed();
  Done done = Applied();
  auto status = Summarize(o, done);
  auto events = EventsOf({}, status, done);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].reason, "ProviderInstalled");
  EXPECT_TRUE(EventsOf(status, status, Done{}).empty());
  Done held;
  held.hold = Hold{"ProviderInstalled", "InvalidComponents", "line 4711"};
  auto failed = Summarize(o, held);
  events = EventsOf(status, failed, held);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].type, "Warning");
  EXPECT_THAT(events[0].message, HasSubstr("line 4711"));
}

// T3: an event has no room for a role, and one that is cut off is another one.
TEST(EventsOf, HaveNoPartOfWhatIsToBeApplied) {
  Observation o = testing::Observed();
  Done done;
  done.hold = Hold{"PreflightCheckPassed", "PermissionsMissing", "the operator lacks rights", Retry::kRefused};
  done.hold->details = "# apply this\nkind: ClusterRole\n";
  const auto events = EventsOf({}, Summarize(o, done), done);
  ASSERT_FALSE(events.empty());
  for (const Event& event : events) {
    EXPECT_EQ(event.message, "the operator lacks rights; the message of condition Ready has what gives them");
  }
}

}  // namespace
}  // namespace capi::ops
