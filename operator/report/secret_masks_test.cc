#include "operator/report/secret_masks.h"

#include <gtest/gtest.h>

#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

const std::string kKey = "InfrastructureProvider/aws-system/aws";

SecretValues Values(const std::string& value) {
  SecretValues values;
  values.Add(value);
  return values;
}

// I7: what others may have written is looked at before it is told.
TEST(HasForeignWords, InEachPart) {
  const Fleet healthy{.workloads = {testing::NewWorkload(kube::HealthState::kCurrent)}};
  const Fleet failing{.workloads = {testing::NewWorkload(kube::HealthState::kFailed, "panic")}};
  const struct {
    std::string_view name;
    Done done;
    bool has;
  } cases[] = {
      {"nothing", {}, false},
      {"no warnings", {.warnings = std::vector<std::string>()}, false},
      {"a warning", {.warnings = std::vector<std::string>{"unknown field"}}, true},
      {"a hold", {.hold = Hold{}}, true},
      {"what a policy couldn't begin", {.withdrawn = Withdrawn{}}, true},
      {"a change", {.rollout = api::HistoryEntry{}}, true},
      {"what was restored", {.restored = {"a was deleted"}}, true},
      {"what is kept", {.kept = {"a is another's"}}, true},
      {"pods that run", {.fleet = healthy}, false},
      {"pods that don't", {.fleet = failing}, true},
  };
  for (const auto& c : cases) EXPECT_EQ(HasForeignWords(c.done), c.has) << c.name;
}

// I7: a value that old pods may have stays secret while the next change is sent.
TEST(SecretMasks, AChangeThatFollowsAnotherForgetsNothing) {
  SecretMasks masks;
  masks.Put(kKey, Values("first-value"));
  masks.Add(kKey, Values("second-value"));
  masks.ApplyBegins(kKey, std::make_shared<const SecretValues>(Values("first-value")));
  masks.ApplyEnds(kKey);
  masks.ApplyBegins(kKey, std::make_shared<const SecretValues>(Values("second-value")));
  masks.RolloutEnds(kKey);
  EXPECT_EQ(masks.Hide(kKey, "first-value second-value"), "*** ***");
  masks.ApplyEnds(kKey);
  masks.RolloutEnds(kKey);
  EXPECT_EQ(masks.Hide(kKey, "first-value second-value"), "first-value ***");
  masks.Drop(kKey);
  EXPECT_FALSE(masks.Knows(kKey));
}

TEST(SecretMasks, HideInAllThatAPassHasDone) {
  SecretMasks masks;
  masks.Put(kKey, Values("the-value"));
  Observation o = testing::Observed();
  o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kFailed, "panic: the-value")};
  Done done{.hold = Hold{"Ready", "InstallFailed", "got the-value", Retry::kRefused},
            .restored = {"a was the-value"},
            .kept = {"b is the-value's"}};
  done.hold->details = "name: the-value";
  masks.Hide(kKey, o, done);
  EXPECT_EQ(o.fleet.workloads[0].health.message, "panic: ***");
  EXPECT_EQ(done.hold->message, "got ***");
  EXPECT_EQ(done.hold->details, "name: ***");
  EXPECT_EQ(done.restored[0], "a was ***");
  EXPECT_EQ(done.kept[0], "b is ***'s");
}

}  // namespace
}  // namespace capi::ops
