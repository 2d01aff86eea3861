#include "operator/observe/fights.h"

#include <gtest/gtest.h>

#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

Drift Changed(const std::string& by) { return {testing::DeploymentId(), false, {"f", by, Json(), ""}, {}}; }
Drift Deleted() { return {testing::DeploymentId(), true, {}, {}}; }

class FightsTest : public ::testing::Test {
 protected:
  // What somebody changed, judged; restored where that may be now. True when it was.
  bool Happens(Drift drift) {
    std::vector<Drift> drifts = {drift};
    last_ = fights_.Judge("p", drifts);
    wait_ = drifts[0].wait;
    if (wait_ != Millis(0)) return false;
    fights_.Restored("p", drift, "what");
    return true;
  }
  std::vector<Fight> Quiet() {
    std::vector<Drift> none;
    return fights_.Judge("p", none);
  }

  FakeClock clock_;
  Fights fights_{clock_};
  std::vector<Fight> last_;
  Millis wait_{0};
};

// D2: four times at once, the fifth within a minute is a fight.
TEST_F(FightsTest, TheFifthTimeInAMinuteWaits) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(Happens(Changed("x")));
    EXPECT_TRUE(last_.empty());
    clock_.Advance(Seconds(1));
  }
  EXPECT_FALSE(Happens(Changed("x")));
  EXPECT_EQ(wait_, Seconds(9)) << "ten seconds from the last restoration";
  ASSERT_EQ(last_.size(), 1u);
  EXPECT_TRUE(last_[0].waiting);
  EXPECT_EQ(last_[0].restored, 4u);
  EXPECT_EQ(last_[0].next, Seconds(9));
}

TEST_F(FightsTest, DelaysDoubleUpToTenMinutes) {
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Happens(Deleted()));
  for (int delay : {10, 20, 40, 80, 160, 320, 600, 600}) {
    SCOPED_TRACE(delay);
    EXPECT_FALSE(Happens(Deleted()));
    EXPECT_EQ(wait_, Seconds(delay));
    clock_.Advance(Seconds(delay));
    EXPECT_TRUE(Happens(Deleted()));
  }
}

TEST_F(FightsTest, EndsAMinuteAfterTheLastRestorationHolds) {
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Happens(Changed("x")));
  ASSERT_FALSE(Happens(Changed("x")));
  clock_.Advance(Seconds(10));
  ASSERT_TRUE(Happens(Changed("x")));
  auto fights = Quiet();
  ASSERT_EQ(fights.size(), 1u);
  EXPECT_FALSE(fights[0].waiting);
  EXPECT_EQ(fights[0].next, Seconds(60)) << "when to look whether it is over";
  clock_.Advance(Seconds(60));
  EXPECT_TRUE(Quiet().empty());
  EXPECT_TRUE(Happens(Changed("x"))) << "a later change is an ordinary one";
}

// D2, F5: a restoration that the server refuses is a try too: the next one comes later. No fight begins with it.
TEST_F(FightsTest, ARefusedRestorationCountsForTheBackOff) {
  for (int i = 0; i < 10; ++i) fights_.Failed("p", Changed("x"));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Happens(Changed("x")));
  EXPECT_FALSE(Happens(Changed("x")));
  clock_.Advance(Seconds(10));
  std::vector<Drift> drifts = {Changed("x")};
  EXPECT_EQ(fights_.Judge("p", drifts).at(0).next, Millis(0));
  fights_.Failed("p", Changed("x"));
  auto fights = fights_.Judge("p", drifts);
  EXPECT_EQ(fights.at(0).next, Seconds(20));
  EXPECT_EQ(fights.at(0).restored, 4u) << "it was not";
}

// What is changed now and then, or by turns in different places, isn't a fight.
TEST_F(FightsTest, RareOrDifferentChangesAreNone) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(Happens(Changed("x")));
    clock_.Advance(Seconds(16));
  }
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Happens(Changed("a")));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Happens(Changed("b")));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Happens(Deleted()));
  EXPECT_FALSE(Happens(Changed("a")));
}

TEST_F(FightsTest, AreOfOneProvider) {
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Happens(Changed("x")));
  std::vector<Drift> drifts = {Changed("x")};
  EXPECT_TRUE(fights_.Judge("other", drifts).empty());
  EXPECT_EQ(drifts[0].wait, Millis(0));
  fights_.Forget("p");
  EXPECT_TRUE(Happens(Changed("x")));
}

}  // namespace
}  // namespace capi::ops
