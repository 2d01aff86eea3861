// B3: what changed of conditions.
#include "operator/ui/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::ops::ui {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

api::ProviderStatus With(std::vector<kube::Condition> conditions) {
  api::ProviderStatus out;
  out.conditions = std::move(conditions);
  return out;
}

kube::Condition Ready(std::string status, std::string reason, std::string message = "") {
  return {"Ready", std::move(status), std::move(reason), std::move(message), 1, ""};
}

const WallTime kNow{Seconds(1'700'000'000)};

TEST(Timeline, NotesStatusReasonAndEnd) {
  Timeline timeline;
  timeline.Note("a", With({}), With({Ready("False", "Upgrading", "to v2")}), kNow);
  timeline.Note("a", With({Ready("False", "Upgrading", "to v2")}), With({Ready("False", "Upgrading", "else")}), kNow);
  timeline.Note("a", With({Ready("False", "Upgrading")}), With({Ready("True", "WorkloadsReady")}), kNow);
  timeline.Note("a", With({Ready("True", "WorkloadsReady")}), With({}), kNow);
  const std::string time = "2023-11-14T22:13:20Z";
  EXPECT_THAT(timeline.Of("a"), ElementsAre(Transition{time, "Ready", "False", "Upgrading", "to v2"},
                                            Transition{time, "Ready", "True", "WorkloadsReady", ""},
                                            Transition{time, "Ready", "", "", ""}));
  EXPECT_THAT(timeline.Of("b"), IsEmpty());
  timeline.Forget("a");
  EXPECT_THAT(timeline.Of("a"), IsEmpty());
}

TEST(Timeline, IsBoundedForOneAndForAll) {
  Timeline timeline;
  auto flip = [&](const std::string& key, size_t i) {
    timeline.Note(key, With({}), With({Ready("True", "R" + std::to_string(i))}), kNow);
  };
  flip("quiet", 0);
  for (size_t i = 0; i < 3 * Timeline::kMost; ++i) flip("busy", i);
  EXPECT_THAT(timeline.Of("quiet"), SizeIs(1)) << "one that flaps costs its own history alone";
  EXPECT_THAT(timeline.Of("busy"), SizeIs(::testing::Le(Timeline::kMostOfOne)));
  EXPECT_EQ(timeline.Of("busy").back().reason, "R" + std::to_string(3 * Timeline::kMost - 1));
  size_t kept = 0;
  for (size_t i = 0; i < 2 * Timeline::kMost; ++i) flip("p" + std::to_string(i), i);
  for (size_t i = 0; i < 2 * Timeline::kMost; ++i) kept += timeline.Of("p" + std::to_string(i)).size();
  EXPECT_LE(kept, Timeline::kMost);
  EXPECT_EQ(kept, Timeline::kMost);
  EXPECT_THAT(timeline.Of("p" + std::to_string(2 * Timeline::kMost - 1)), SizeIs(1));
}

TEST(Timeline, CutsALongMessageBetweenCharacters) {
  Timeline timeline;
  std::string message(Timeline::kLongestMessage - 1, 'x');
  timeline.Note("a", With({}), With({Ready("False", "R", message + "\xc3\xa9\xc3\xa9")}), kNow);
  EXPECT_EQ(timeline.Of("a").at(0).message, message + " ...");
}

}  // namespace
}  // namespace capi::ops::ui
