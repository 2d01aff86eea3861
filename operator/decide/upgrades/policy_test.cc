#include "operator/decide/upgrades/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "operator/decide/rollout.h"
#include "operator/decide/upgrades/policy_testing.h"
#include "operator/decide/upgrades/updates.h"

namespace capi::ops {
namespace {

using testing::Chosen;
using testing::Entry;
using testing::kHour;
using testing::kMinor;
using testing::kPatch;
using testing::Moved;
using testing::Settle;
using testing::Store;

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

// One that is refused keeps none of the others waiting, nor is it forgotten for them.
TEST(Policy, OneThatIsRefusedHidesNoOther_U13) {
  Observation o = Moved(kMinor);
  Refuse(o.provider.status, o, {"v1.13.0", "away"});
  EXPECT_EQ(Chosen(o), "v1.12.3");
  EXPECT_TRUE(GoesOnByPolicy(o, "v1.13.0")) << "in the next pass";
  EXPECT_FALSE(GoesOnByPolicy(o, "v1.12.3")) << "that has its own time";
  EXPECT_EQ(PolicyWaits(o), kHour / 6) << "and the other one is tried again";
  Refuse(o.provider.status, o, {"v1.12.3", "away", "", 3 * kHour});
  EXPECT_FALSE(GoesOnByPolicy(o, "v1.13.0"));
  EXPECT_EQ(PolicyWaits(o), kHour / 6);
}

// The series is that of what runs: who has let a policy lead over minor versions gets patches of where it has led to.
TEST(Policy, PatchesAreThoseOfWhatRuns_U13) {
  Observation o = Moved();
  auto& status = o.provider.status;
  status.history = {Entry("v1.13.0", "Succeeded", "v1.12.0"), Entry("v1.12.0", "Succeeded")};
  status.installed_version = "v1.13.0";
  status.available_upgrades = {{"v1.13.2", "v1beta2"}, {"v1.14.0", "v1beta2"}};
  Store(o, "v1.13.0");
  Settle(o);
  status.history.front().inputs = status.applied = InputsDigest(o);
  EXPECT_EQ(Chosen(o), "v1.13.2");
}

// A newer version may mend a conversion that fails. One that goes on comes first.
TEST(Policy, AMigrationThatFailsHoldsNothingUp_U13) {
  Observation o = Moved();
  o.fleet.unmigrated.emplace_back();
  auto& conditions = o.provider.status.conditions;
  conditions.push_back({"StorageMigrated", "False", "MigratingStorage", "", 1, ""});
  EXPECT_EQ(testing::StepName(Decide(o)), "Migrate");
  const auto& first = o.provider.status.available_upgrades.front();
  EXPECT_THAT(KeptFrom(o, first), ::testing::HasSubstr("once what is stored is migrated"));
  conditions.back().reason = "StorageMigrationFailed";
  EXPECT_EQ(Chosen(o), "v1.12.3");
  EXPECT_EQ(KeptFrom(o, first), "");
  conditions.front().status = "False";
  EXPECT_THAT(KeptFrom(o, first), ::testing::HasSubstr("once the provider is Ready"));
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

// A refusal may end when the window is closed: what is told is when it is tried, and that is when it is.
TEST(Policy, WhatIsRefusedWaitsForItsWindowToo_U13) {
  Observation o = Moved();
  o.provider.spec.upgrade_policy.window = api::MaintenanceWindow{2 * kHour, kHour, {}};
  o.now = *ParseTime("2027-01-15T02:55:00Z");
  const auto& one = o.provider.status.available_upgrades.front();
  EXPECT_EQ(TriedAgainAt(o, one), std::nullopt);
  Refuse(o.provider.status, o, {"v1.12.3", "away"});
  const auto again = TriedAgainAt(o, one);
  ASSERT_TRUE(again);
  EXPECT_GE(*again, *ParseTime("2027-01-16T02:00:00Z"));
  EXPECT_LE(*again, *ParseTime("2027-01-16T02:10:00Z")) << "not the whole fleet at once";
  EXPECT_EQ(PolicyWaits(o), *again - o.now);
  EXPECT_EQ(KeptFrom(o, one), "");
  o.now += kHour / 12;  // it is closed by now
  EXPECT_EQ(PolicyWaits(o), *again - o.now);
  EXPECT_EQ(KeptFrom(o, one), "") << "that it waits for its window is in that time";
  o.spec_digest = "other inputs";
  EXPECT_EQ(TriedAgainAt(o, one), std::nullopt) << "it is tried at once";
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

// Whatever else of it is edited by hand: a refusal without its times is none, and what is no version is left alone.
TEST(Policy, WhatCannotBeReadKeepsNobody_U13) {
  Observation o = Moved();
  const auto wait = [&] {
    Refuse(o.provider.status, o, {"v1.12.3", "away"});
    return *ParseTime(o.provider.status.available_upgrades[0].refused->until) - o.now;
  };
  EXPECT_EQ(wait(), kHour / 6);
  EXPECT_EQ(wait(), kHour / 3);
  o.spec_digest = "other inputs";
  EXPECT_EQ(wait(), kHour / 6);
  auto& refused = *o.provider.status.available_upgrades[0].refused;
  refused.since = "yesterday";
  EXPECT_EQ(wait(), kHour / 6);
  refused.until = "tomorrow";
  EXPECT_EQ(ChosenByPolicy(o), "v1.12.3");
  EXPECT_EQ(wait(), kHour / 6);
  o = Moved();
  o.declared_version.clear();
  EXPECT_EQ(ChosenByPolicy(o), std::nullopt);
  o.declared_version = "v1.12.0";
  o.provider.spec.version = "v1.x";
  o.provider.status.installed_version = "v1.x";
  EXPECT_EQ(ChosenByPolicy(o), std::nullopt);
  o = Moved(kMinor);
  std::swap(o.provider.status.available_upgrades[0], o.provider.status.available_upgrades[1]);
  EXPECT_EQ(Chosen(o), "v1.13.0") << "in whichever order they are known";
  o.spec_error = Error{Code::kInvalidArgument, "", {}};
  EXPECT_EQ(ChosenByPolicy(o), std::nullopt);
  o.spec_error.reset();
  o.provider.annotations[std::string(api::kAnnotationAllowDowngrade)] = "true";
  EXPECT_EQ(ChosenByPolicy(o), std::nullopt);
}

// Of what a policy could go to alone.
TEST(Policy, NothingIsSaidOfWhatItDoesNotReach_U13) {
  Observation o = Moved();
  o.provider.spec.upgrade_policy.window = api::MaintenanceWindow{2 * kHour, kHour, {}};
  o.now = *ParseTime("2027-01-15T12:00:00Z");
  EXPECT_NE(KeptFrom(o, {"v1.12.3", "v1beta2"}), "");
  EXPECT_EQ(KeptFrom(o, {"v1.x", "v1beta2"}), "");
  EXPECT_EQ(KeptFrom(o, {"v1.13.0", "v1beta2"}), "");
  EXPECT_EQ(KeptFrom(o, {"v1.12.3", "v1beta2", "Pause"}), "");
}

TEST(Policy, WhoseNameIsDeclaredSinceIsThePersons_U13) {
  Observation o = Moved();
  o.declared_version = "v1.12.3";
  for (const char* outcome : {"Failed", "RolledBack"}) {
    EXPECT_TRUE(IsNamedSince(o, Entry("v1.12.3", outcome, "v1.12.0"))) << outcome;
    EXPECT_FALSE(IsNamedSince(o, Entry("v1.12.3", outcome))) << "it was all the time";
    EXPECT_FALSE(IsNamedSince(o, Entry("v1.12.2", outcome, "v1.12.0"))) << outcome;
  }
  for (const char* outcome : {"Applying", "RollingOut", "RollingBack", "Succeeded"}) {
    EXPECT_FALSE(IsNamedSince(o, Entry("v1.12.3", outcome, "v1.12.0"))) << outcome;
  }
}

}  // namespace
}  // namespace capi::ops
