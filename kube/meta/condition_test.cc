#include "kube/meta/condition.h"

#include <gtest/gtest.h>

namespace capi::kube {
namespace {

TEST(Conditions, SurviveTheRoundTripAndSkipWhatIsMalformed) {
  Json list = Json::parse(R"([{"type":"Ready","status":"True","reason":"Fine","message":"m","observedGeneration":4,
    "lastTransitionTime":"2026-01-01T00:00:00Z"}, "text", {"status":"True"}, 7, {"type":3}])");
  std::vector<Condition> read = ConditionsFromJson(list);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(ConditionsToJson(read), Json::array({list[0]}));
  EXPECT_TRUE(ConditionsFromJson(Json()).empty());
}

TEST(SettleConditions, KeepsTheTimeOfAnUnchangedStatusAndPutsReadyFirst) {
  std::vector<Condition> old = {{.type = "A", .status = "True", .last_transition_time = "2020-01-01T00:00:00Z"},
                                {.type = "Ready", .status = "False", .last_transition_time = "2020-01-01T00:00:00Z"}};
  std::vector<Condition> now = {{.type = "Z", .status = "True"},
                                {.type = "A", .status = "True", .message = "another message"},
                                {.type = "Ready", .status = "True"}};
  WallTime time(std::chrono::seconds(1'700'000'000));
  SettleConditions(now, old, time);
  ASSERT_EQ(now.size(), 3u);
  EXPECT_EQ(now[0].type, "Ready");
  EXPECT_EQ(now[0].last_transition_time, FormatTime(time));
  EXPECT_EQ(now[1].type, "A");
  EXPECT_EQ(now[1].last_transition_time, "2020-01-01T00:00:00Z");
  EXPECT_EQ(now[2].last_transition_time, FormatTime(time));
  EXPECT_EQ(FindCondition(now, "Z"), &now[2]);
  EXPECT_EQ(FindCondition(now, "Y"), nullptr);
}

}  // namespace
}  // namespace capi::kube
