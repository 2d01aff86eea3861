#include "operator/report/status_change.h"

#include <gtest/gtest.h>

#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

api::ProviderStatus Saying(std::vector<kube::Condition> conditions) {
  api::ProviderStatus status;
  status.conditions = std::move(conditions);
  return status;
}

Fleet FleetOf(kube::HealthState state) {
  Fleet fleet;
  fleet.workloads = {testing::NewWorkload(state)};
  return fleet;
}

kube::Inventory Stale() {
  kube::Inventory inventory;
  inventory.Put({"", "ConfigMap", "ns", "old"}, {"v1", "", "", true});
  return inventory;
}

// U4, U3, C3, C5: what follows a pass without an event.
TEST(GoesOn, WhereNoEventIsToCome) {
  const auto ready = kube::HealthState::kCurrent, coming = kube::HealthState::kInProgress;
  Fleet unmigrated = FleetOf(ready);
  unmigrated.unmigrated.emplace_back().name = "as.x";
  Fleet unmigrated_coming = FleetOf(coming);
  unmigrated_coming.unmigrated = unmigrated.unmigrated;
  const Hold hold{"Ready", "InUse", "", Retry::kWaiting};
  const api::ProviderStatus none, paused = Saying({{"Paused", "True", "Paused", "", 1, ""}}),
                                  migrating = Saying({{"StorageMigrated", "False", "MigratingStorage", "", 1, ""}});
  api::ProviderStatus wanted;
  wanted.desired_version = "v1.2.0";
  api::ProviderStatus rolled_back;
  rolled_back.history = {{"v1.1.0", "v1beta2", ""}};
  rolled_back.history[0].outcome = api::outcome::kRolledBack;
  api::ProviderStatus policy = rolled_back;
  policy.history[0].instead_of = "v1.0.0";
  struct Case {
    std::string_view name;
    api::ProviderStatus is;
    Done done;
    bool goes_on;
  };
  const Case cases[] = {
      {"nothing was done", none, {}, false},
      {"asked for", none, {.again = true}, true},
      {"asked for, and held", none, {.hold = hold, .again = true}, false},
      {"C3 the status says that it is paused now", paused, {}, true},
      {"and a hold waits for that", paused, {.hold = hold}, true},
      {"U3 it says that objects are to be migrated", migrating, {}, true},
      {"U13 what a policy had gone to was rolled back, and what ran before is to run", policy, {.hold = hold}, true},
      {"U5 what a person asks for was, and is held", rolled_back, {.hold = hold}, false},
      {"C5 it says that a contract can't be told", wanted, {}, true},
      {"U4 all came up, something is left over", none, {.inventory = Stale(), .fleet = FleetOf(ready)}, true},
      {"U4 and is still needed until then", none, {.inventory = Stale(), .fleet = FleetOf(coming)}, false},
      {"U4 nobody looked", none, {.inventory = Stale()}, false},
      {"U4 nothing is left over", none, {.inventory = kube::Inventory(), .fleet = FleetOf(ready)}, false},
      {"U3 all came up, objects are stored at older versions", none, {.fleet = unmigrated}, true},
      {"U3 nobody converts them yet", none, {.fleet = unmigrated_coming}, false},
  };
  for (const Case& c : cases) EXPECT_EQ(GoesOn(none, c.is, c.done), c.goes_on) << c.name;
  EXPECT_FALSE(GoesOn(policy, policy, {.hold = hold})) << "once";
}

// The words of a rollout may wait; whatever somebody acts upon may not.
TEST(MayWait, WordsAlone) {
  const kube::Condition was{"Ready", "False", "WorkloadsNotReady", "0 of 2", 1, ""};
  auto with = [&](auto change) {
    kube::Condition is = was;
    change(is);
    return Saying({is});
  };
  const auto words = with([](kube::Condition& c) { c.message = "1 of 2"; });
  EXPECT_FALSE(MayWait(Saying({was}), Saying({was}), {})) << "nothing to write";
  EXPECT_TRUE(MayWait(Saying({was}), words, {}));
  EXPECT_FALSE(MayWait(Saying({was}), with([](kube::Condition& c) { c.reason = "Paused"; }), {}));
  EXPECT_FALSE(MayWait(Saying({was}), with([](kube::Condition& c) { c.status = "True"; }), {}));
  EXPECT_FALSE(MayWait(Saying({was}), with([](kube::Condition& c) { c.type = "Paused"; }), {}));
  EXPECT_FALSE(MayWait(Saying({was}), with([](kube::Condition& c) { c.observed_generation = 2; }), {}));
  EXPECT_FALSE(MayWait(Saying({was}), Saying({was, was}), {}));
  api::ProviderStatus more = words;
  more.contract = "v1beta2";
  EXPECT_FALSE(MayWait(Saying({was}), more, {})) << "more than words";
  Done held{.hold = Hold{"Ready", "InstallFailed", "", Retry::kBackoff}};
  EXPECT_TRUE(MayWait(Saying({was}), words, held));
  held.hold->next_try = WallTime(Seconds(1));
  EXPECT_FALSE(MayWait(Saying({was}), words, held)) << "F5: the next pass is then";
}

}  // namespace
}  // namespace capi::ops
