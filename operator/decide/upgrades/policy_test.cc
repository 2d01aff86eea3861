#include "operator/decide/upgrades/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "api/moves/upgrade_policy.h"
#include "operator/decide/decide.h"
#include "operator/decide/rollout.h"
#include "operator/decide/testing_fleet.h"
#include "operator/decide/upgrades/updates.h"

namespace capi::ops {
namespace {

using testing::Observed;

constexpr auto kPatch = api::UpgradeType::kPatch, kMinor = api::UpgradeType::kMinor;
constexpr Millis kHour = std::chrono::hours(1);

api::HistoryEntry Entry(const char* version, const char* outcome, const char* instead_of = "") {
  api::HistoryEntry entry{version, "v1beta2", "sha256:1"};
  entry.outcome = outcome;
  entry.instead_of = instead_of;
  return entry;
}

void Store(Observation& o, const char* version) {
  o.releases.push_back({"aws-system", std::string("infrastructure-aws-") + version, version,
                        *api::Version::Parse(version), std::string("uid-") + version + "/1"});
}

// As the cache and a look at the history leave it.
void Settle(Observation& o) {
  o.provider.spec.version = api::VersionToRun(o.declared_version, o.provider.status, o.provider.annotations);
}

// spec.version v1.12.0, and v1.12.1 runs by the policy; more is known.
Observation Moved(api::UpgradeType type = kPatch) {
  Observation o = Observed();
  o.check_updates = 12 * kHour;
  o.source = "url https://example.org/aws";
  o.provider.spec.upgrade_policy.type = type;
  o.declared_version = "v1.12.0";
  api::ProviderStatus& status = o.provider.status;
  status.installed_version = "v1.12.1";
  status.contract = "v1beta2";
  status.conditions = {{"Ready", "True", "WorkloadsReady", "", 1, ""}};
  status.history = {Entry("v1.12.1", "Succeeded", "v1.12.0"), Entry("v1.12.0", "Succeeded")};
  status.available_upgrades = {{"v1.12.3", "v1beta2"}, {"v1.13.0", "v1beta2"}, {"v2.0.0", "v1beta2"}};
  Settle(o);
  Store(o, "v1.12.1");
  status.applied = InputsDigest(o);
  status.history.front().inputs = status.applied;
  return o;
}

std::string Chosen(const Observation& o) {
  const Step step = Decide(o);
  const auto* upgrade = std::get_if<Upgrade>(&step);
  return upgrade == nullptr ? "" : upgrade->version;
}

TEST(Policy, GoesToTheNewestInReach_U13) {
  const struct {
    std::string_view what;
    api::UpgradeType type;
    std::function<void(Observation&)> change;
    std::string chosen;
  } cases[] = {
      {"none", api::UpgradeType::kNone, [](Observation&) {}, ""},
      {"patch", kPatch, [](Observation&) {}, "v1.12.3"},
      {"minor", kMinor, [](Observation&) {}, "v1.13.0"},
      {"within the installed contract", kMinor,
       [](Observation& o) {
         o.provider.status.available_upgrades.push_back({"v1.14.0", "v1beta1"});
       },
       "v1.13.0"},
      {"what needs nothing before it", kMinor,
       [](Observation& o) {
         o.provider.status.available_upgrades.push_back({"v1.16.0", "v1beta2", "NearerVersion"});
       },
       "v1.13.0"},
      {"not ready", kPatch, [](Observation& o) { o.provider.status.conditions[0].status = "False"; }, ""},
      {"not ready by now", kPatch,
       [](Observation& o) { o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kInProgress)}; }, ""},
      {"paused", kPatch, [](Observation& o) { o.provider.spec.paused = true; }, ""},
      {"its spec can't be read", kPatch,
       [](Observation& o) {
         o.spec_error = Error{Code::kInvalidArgument, "", {}};
       },
       ""},
      {"other inputs come first", kPatch, [](Observation& o) { o.spec_digest = "other"; }, ""},
      {"spec.version alone counts", kPatch,
       [](Observation& o) { o.provider.annotations[std::string(api::kAnnotationAllowDowngrade)] = "true"; }, ""},
      {"nor what failed", kPatch,
       [](Observation& o) {
         auto& history = o.provider.status.history;
         history.insert(history.begin() + 1, Entry("v1.12.3", "RolledBack", "v1.12.0"));
       },
       ""},
      {"nor what failed by its own name", kPatch,
       [](Observation& o) {
         auto& history = o.provider.status.history;
         history.insert(history.begin() + 1, Entry("v1.12.3", "Failed"));
       },
       ""},
  };
  for (const auto& c : cases) {
    Observation o = Moved(c.type);
    c.change(o);
    Settle(o);
    EXPECT_EQ(Chosen(o), c.chosen) << c.what;
  }
}

// Nothing is kept of a choice: when its window has closed, it was none.
TEST(Policy, BeginsInItsWindowOrNotAtAll_U13) {
  Observation o = Moved();
  o.provider.spec.upgrade_policy.window = api::MaintenanceWindow{2 * kHour, kHour, {}};
  o.now = *ParseTime("2027-01-15T02:30:00Z");
  const api::ProviderStatus before = o.provider.status;
  EXPECT_EQ(Chosen(o), "v1.12.3");
  EXPECT_EQ(o.provider.status, before);
  o.now += kHour;  // something has kept it from beginning
  EXPECT_EQ(Chosen(o), "");
  EXPECT_EQ(testing::StepName(Decide(o)), "Steady");
  const auto waits = PolicyWaits(o);
  ASSERT_TRUE(waits);
  EXPECT_GE(*waits, 22 * kHour + kHour / 2);
  EXPECT_LE(*waits, 22 * kHour + kHour / 2 + kHour / 6) << "not the whole fleet at once";
  o.provider.status.available_upgrades.clear();
  EXPECT_EQ(PolicyWaits(o), std::nullopt) << "nothing waits for it";
}

// What is refused before it has begun is tried again later and later, or with other inputs, and nothing else changes.
TEST(Policy, WhatIsRefusedIsTriedAgainLater_U13) {
  Observation o = Moved();
  Refuse(o.provider.status, o, {"v1.12.3", "AWS_REGION has no value"});
  EXPECT_EQ(Chosen(o), "");
  EXPECT_EQ(PolicyWaits(o), kHour / 6);
  EXPECT_EQ(o.provider.spec.version, "v1.12.1");
  Observation given = o;
  given.spec_digest = "now it has one";
  given.provider.status.applied = InputsDigest(given);
  EXPECT_EQ(Chosen(given), "v1.12.3");

  Millis waited{0};
  for (int i = 0; i < 20; ++i) {
    const auto wait = PolicyWaits(o);
    ASSERT_TRUE(wait);
    EXPECT_LE(*wait, 24 * kHour);
    EXPECT_GE(*wait, std::min<Millis>(waited, 24 * kHour)) << "less and less often";
    o.now += *wait;
    waited += *wait;
    EXPECT_EQ(Chosen(o), "v1.12.3");
    Refuse(o.provider.status, o, {"v1.12.3", "AWS_REGION has no value"});
  }
  EXPECT_GT(waited, 10 * 24 * kHour);
  o.now -= 1000 * kHour;
  EXPECT_EQ(Chosen(o), "v1.12.3") << "a clock that was set back makes nobody wait";

  Observation asked = Moved();
  Refuse(asked.provider.status, asked, {"v1.12.3", "slowly", "", 5 * kHour});
  EXPECT_EQ(PolicyWaits(asked), 5 * kHour) << "no earlier than a source asks for";
  // Another look finds the same version: it is known still, and refused.
  SettleUpdates(asked.provider.status, asked);
  asked.provider.status.available_upgrades = Moved().provider.status.available_upgrades;
  Refuse(asked.provider.status, asked, {"v1.12.3", "slowly", "", 5 * kHour});
  asked.updates = UpdatesFound{asked.provider.status.update_check->source, asked.now, {{"v1.12.3", "v1beta2"}}, {}};
  SettleUpdates(asked.provider.status, asked);
  EXPECT_EQ(PolicyWaits(asked), 5 * kHour);
}

// A window that opens anew makes a beginning of it, and so does a refusal that was long ago.
TEST(Policy, EachWindowHasItsTries_U13) {
  Observation o = Moved();
  o.provider.spec.upgrade_policy.window = api::MaintenanceWindow{2 * kHour, 2 * kHour, {}};
  const auto waits_for = [&](const char* now) {
    o.now = *ParseTime(now);
    EXPECT_EQ(Chosen(o), "v1.12.3") << now;
    Refuse(o.provider.status, o, {"v1.12.3", "away"});
    return *ParseTime(o.provider.status.available_upgrades[0].refused->until) - o.now;
  };
  EXPECT_EQ(waits_for("2027-01-15T02:00:00Z"), kHour / 6);
  EXPECT_EQ(waits_for("2027-01-15T02:10:00Z"), kHour / 3);
  EXPECT_EQ(waits_for("2027-01-15T02:30:00Z"), kHour * 2 / 3);
  EXPECT_EQ(waits_for("2027-01-16T02:00:00Z"), kHour / 6);
  EXPECT_EQ(waits_for("2027-01-16T02:10:00Z"), kHour / 3);
  o.provider.spec.upgrade_policy.window.reset();
  EXPECT_EQ(waits_for("2027-02-16T02:10:00Z"), kHour / 6);
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
  Observation o = Moved();
  auto& status = o.provider.status;
  Store(o, "v1.12.2");
  status.history.insert(status.history.begin(), Entry("v1.12.2", "RollingBack", "v1.12.0"));
  Settle(o);
  status.history.front().inputs = InputsDigest(o);
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
  Observation o = Moved();
  auto& status = o.provider.status;
  status.available_upgrades.clear();
  status.installed_version = "v1.12.2";
  status.conditions[0].status = "False";
  Store(o, "v1.12.2");
  o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kFailed)};
  status.history.insert(status.history.begin(), Entry("v1.12.2", "Failed", "v1.12.0"));
  Settle(o);
  status.history.front().inputs = status.applied = InputsDigest(o);
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
  } cases[] = {
      {"in time", "v1.12.0", api::OnFailure::kHold, -Seconds(5), "Install", ""},
      {"it is left", "v1.12.0", api::OnFailure::kHold, Seconds(5), "GiveUp", ""},
      {"it goes back", "v1.12.0", api::OnFailure::kRollback, Seconds(5), "Install", "v1.12.1"},
      {"a person's", "", api::OnFailure::kRollback, Seconds(5), "Install", ""},
  };
  for (const auto& c : cases) {
    Observation o = Moved();
    auto& status = o.provider.status;
    status.available_upgrades.clear();
    status.conditions[0] = {"Ready", "False", "InstallFailed", "exceeded quota", 1, ""};
    Store(o, "v1.12.2");
    o.provider.spec.rollout.on_failure = c.on_failure;
    status.history.insert(status.history.begin(), Entry("v1.12.2", "Applying", c.instead_of));
    if (*c.instead_of == '\0') o.declared_version = "v1.12.2";
    Settle(o);
    status.history.front().inputs = InputsDigest(o);
    status.history.front().started = FormatTime(o.now - o.provider.spec.rollout.timeout - c.late);
    const Step step = Decide(o);
    EXPECT_EQ(testing::StepName(step), c.step) << c.what;
    if (const auto* install = std::get_if<Install>(&step)) EXPECT_EQ(install->rollback_to, c.back) << c.what;
    if (c.step != "GiveUp") continue;
    status.history.front() = GiveUpRollout(o, o.fleet).entry;
    EXPECT_EQ(testing::StepName(Decide(o)), "Install") << "it may be taken by now";
    status.available_upgrades = {{"v1.12.3", "v1beta2"}};
    EXPECT_EQ(Chosen(o), "v1.12.3");
  }
}

// What is given up while spec.version names another version by now stays the policy's, or becomes the person's.
TEST(Policy, AChoiceThatFailsIsHeldWhateverIsDeclaredMeanwhile_U13) {
  const struct {
    const char *declared, *instead_of;
  } cases[] = {{"v1.12.0", "v1.12.0"}, {"v1.12.1", "v1.12.1"}, {"v1.11.0", "v1.11.0"}, {"v1.12.2", ""}};
  for (const auto& c : cases) {
    Observation o = Moved();
    auto& status = o.provider.status;
    Store(o, "v1.12.2");
    status.history.insert(status.history.begin(), Entry("v1.12.2", "RollingOut", "v1.12.0"));
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
  Observation o = Moved();
  auto& status = o.provider.status;
  status.conditions[0].status = "False";
  Store(o, "v1.12.2");
  o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kFailed)};
  status.history.insert(status.history.begin(), Entry("v1.12.2", "Failed", "v1.12.0"));
  Settle(o);
  status.history.front().inputs = status.applied = InputsDigest(o);
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

// An entry says who chose its version, also where what the policy has installed gets other inputs.
TEST(Policy, TheHistorySaysWhoChose_U13) {
  Observation o = Moved();
  EXPECT_EQ(BeginRollout(o, "inputs", "v1.12.3", "", "").instead_of, "")
      << "as it is where another tool has installed it";
  EXPECT_EQ(BeginRollout(o, "inputs", "v1.12.1", "", "").instead_of, "v1.12.0");
  o.chosen = true;
  o.provider.spec.version = "v1.12.3";
  EXPECT_EQ(BeginRollout(o, "inputs", "v1.12.3", "", "").instead_of, "v1.12.0");
  EXPECT_EQ(BeginRollout(o, "inputs", "v1.12.0", "", "").instead_of, "");
}

// However often something fails since.
TEST(Policy, NoFailuresPushOutWhatItHasInstalled_U13) {
  Observation o = Moved();
  auto& history = o.provider.status.history;
  for (int i = 0; i < 30; ++i) {
    api::HistoryEntry failed = Entry("v1.12.1", "Failed", "v1.12.0");
    failed.inputs = "inputs " + std::to_string(i);
    PutEntry(history, failed);
  }
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
  for (int i = 0; i < 30; ++i) {
    api::HistoryEntry failed = Entry("v1.12.1", "Failed");
    failed.inputs = "inputs " + std::to_string(i);
    PutEntry(history, failed);
  }
  EXPECT_EQ(history.size(), 10u);
  EXPECT_TRUE(api::HasFailed(o.provider.status, "v1.12.3"));
  EXPECT_EQ(api::PolicyFloor(o.provider.status), "v1.12.1");
}

// The same release by its own name is one entry with it, and still what the policy has come to.
TEST(Policy, TheFloorStaysWhereItIsNamed_U13) {
  Observation o = Moved();
  auto& history = o.provider.status.history;
  PutEntry(history, Entry("v1.12.1", "RollingOut"));
  Succeed(history, o.now);
  EXPECT_EQ(history.size(), 2u);
  EXPECT_EQ(api::PolicyFloor(o.provider.status), "v1.12.1");
}

// Of Cluster API's own providers the core is the first to get a minor version.
TEST(Policy, TheCoreGoesFirst_U13) {
  const struct {
    const char *core, *outcome, *chosen;
    api::ProviderType type;
    const char* name;
  } cases[] = {
      {"v1.12.0", "Succeeded", "v1.12.3", api::ProviderType::kBootstrap, "kubeadm"},
      {"v1.13.0", "Succeeded", "v1.13.0", api::ProviderType::kBootstrap, "kubeadm"},
      {"v1.13.0", "RollingOut", "", api::ProviderType::kControlPlane, "kubeadm"},
      {"v1.13.0", "Failed", "", api::ProviderType::kControlPlane, "kubeadm"},
      {"v1.12.0", "RolledBack", "v1.12.3", api::ProviderType::kControlPlane, "kubeadm"},
      {"v1.9.0", "Succeeded", "v1.13.0", api::ProviderType::kInfrastructure, "aws"},
      {"", "", "v1.13.0", api::ProviderType::kCore, "cluster-api"},
  };
  for (const auto& c : cases) {
    Observation o = Moved(kMinor);
    o.provider.id.type = c.type;
    o.provider.id.name = c.name;
    auto core = std::make_shared<api::Provider>(*o.core);
    core->status.installed_version = c.core;
    core->status.history = {Entry(c.core, c.outcome)};
    if (c.type != api::ProviderType::kCore) o.core = core;
    EXPECT_EQ(ChosenByPolicy(o).value_or(""), c.chosen) << c.core << " " << c.outcome << " " << c.name;
  }
}

}  // namespace
}  // namespace capi::ops
