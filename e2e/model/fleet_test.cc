// The model by itself: it generates, follows and takes back, without a control plane.
#include "e2e/model/fleet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "e2e/model/actions.h"

namespace capi::e2e::model {
namespace {

Fleet Follow(Fleet fleet, const std::vector<Action>& actions) {
  for (const Action& action : actions) {
    if (!fleet.Can(action)) continue;
    fleet.Do(action);
    fleet.Settle();
  }
  return fleet;
}

Fleet AllAt(int version) {
  return Follow({}, {{Verb::kCreate, 0, version}, {Verb::kCreate, 1, version}, {Verb::kCreate, 2, version}});
}

// C1.
void ExpectGoldenRule(const Fleet& fleet) {
  for (int who = 1; who < kMembers; ++who) {
    bool run = fleet[0].applied && !fleet[0].at_zero && fleet[who].applied && !fleet[who].at_zero;
    if (run) {
      EXPECT_TRUE(Fits(fleet[0].contract(), fleet[who].contract()));
    }
  }
}

struct Scenario {
  const char* name;
  int start;
  std::vector<Action> actions;
  int who, version;
  bool at_zero;
  std::string why;
};

const Scenario kScenarios[] = {
    {"C2: no pause where contracts fit", 1, {{Verb::kVersion, 0, 4}}, 0, 4, false, ""},
    {"C3: the core waits until all are paused", 0, {{Verb::kVersion, 0, 1}}, 0, 0, false, kAnyContractReason},
    {"C3: paused it goes",
     0,
     {{Verb::kVersion, 0, 1}, {Verb::kPause, 0, 1}, {Verb::kPause, 1, 1}, {Verb::kPause, 2, 1}},
     0,
     1,
     true,
     "Paused"},
    {"C3: others wait for the core", 1, {{Verb::kVersion, 2, 4}}, 2, 1, false, kAnyContractReason},
    {"C3: and go on with it", 1, {{Verb::kVersion, 2, 4}, {Verb::kVersion, 0, 4}}, 2, 4, false, ""},
    {"C5: nobody comes back before all fit",
     0,
     {{Verb::kPause, 0, 1}, {Verb::kPause, 1, 1}, {Verb::kPause, 2, 1}, {Verb::kVersion, 0, 1}, {Verb::kPause, 0, 0}},
     0,
     1,
     true,
     "WaitingForContracts"},
    {"U6", 3, {{Verb::kVersion, 1, 1}}, 1, 3, false, "UnsupportedProviderDowngradeReason"},
    {"U6: a patch version may go back", 2, {{Verb::kVersion, 1, 1}}, 1, 1, false, ""},
    {"U3: no version is lost", 2, {{Verb::kVersion, 0, 5}}, 0, 2, false, "StoredVersionsInUse"},
    {"X3", 1, {{Verb::kDelete, 0}}, 0, 1, false, "DeletionBlocked"},
    {"X2", 1, {{Verb::kUse, 1, 1}, {Verb::kDelete, 1}}, 1, 1, false, "InUse"},
    {"I5: no Secret", 1, {{Verb::kSecret, 2, 0}}, 2, 1, false, "SecretNotFound"},
};

TEST(Model, Scenarios) {
  for (const Scenario& scenario : kScenarios) {
    SCOPED_TRACE(scenario.name);
    Fleet fleet = Follow(AllAt(scenario.start), scenario.actions);
    const Member& m = fleet[scenario.who];
    ASSERT_TRUE(m.applied);
    EXPECT_EQ(m.applied->version, scenario.version);
    EXPECT_EQ(m.at_zero, scenario.at_zero);
    EXPECT_EQ(m.why, scenario.why);
  }
}

// From wherever people get to, there is a way back, and the golden rule holds all the way.
TEST(Model, EverySequenceHasAWayBack) {
  std::set<Verb> verbs;
  std::set<std::string> reasons;
  Fleet fleet;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    if (seed % 10 == 0) fleet = Follow({}, Beginning(seed));
    ASSERT_TRUE(fleet.AllReady());
    auto actions = Sequence(seed, fleet);
    EXPECT_THAT(actions.size(), ::testing::AllOf(::testing::Ge(4u), ::testing::Le(8u)));
    for (const Action& action : actions) {
      verbs.insert(action.verb);
      fleet = Follow(fleet, {action});
      ExpectGoldenRule(fleet);
      for (int who = 0; who < kMembers; ++who) reasons.insert(fleet[who].why);
    }
    auto back = WayBack(fleet);
    fleet = Follow(fleet, back);
    ASSERT_TRUE(fleet.AllReady()) << ToString(actions) << "and back:\n" << ToString(back);
  }
  EXPECT_EQ(verbs.size(), 26u) << "every verb is used";
  EXPECT_GE(reasons.size(), 12u) << "and every reason reached";
}

TEST(Model, ASeedIsASequence) {
  Fleet fleet = AllAt(1);
  EXPECT_EQ(Sequence(7, fleet), Sequence(7, fleet));
  EXPECT_NE(Sequence(7, fleet), Sequence(8, fleet));
  Fleet none = Follow(fleet, End(fleet));
  for (int who = 0; who < kMembers; ++who) {
    EXPECT_FALSE(none[who].exists);
    EXPECT_EQ(none[who].crd, -1);
  }
}

// Only what fails together stays.
TEST(Model, ShrinksToWhatMatters) {
  Fleet fleet = AllAt(1);
  auto actions = Sequence(3, fleet);
  const Action a{Verb::kImage, 0, 9}, b{Verb::kImage, 1, 9};
  actions.insert(actions.begin() + 1, a);
  actions.push_back(b);
  auto has = [](const std::vector<Action>& list, const Action& action) {
    return std::find(list.begin(), list.end(), action) != list.end();
  };
  auto fails = [&](const std::vector<Action>& list) { return has(list, a) && has(list, b); };
  EXPECT_EQ(Shrink(actions, 100, fails), (std::vector<Action>{a, b}));
}

}  // namespace
}  // namespace capi::e2e::model
