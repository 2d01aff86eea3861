#include "operator/observe/tracks.h"

#include <gtest/gtest.h>

#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

kube::Object Deployment(const std::string& version) {
  const kube::ObjectId id = testing::DeploymentId();
  return kube::Object(Json{{"apiVersion", "apps/v1"},
                           {"kind", id.kind},
                           {"metadata", {{"namespace", id.ns}, {"name", id.name}, {"resourceVersion", version}}}});
}

TEST(Tracks, WhatWasWrittenIsAwaitedUntilItIsSeen) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  EXPECT_FALSE(tracks.Awaited(id));
  tracks.Expect(id, "10", "kubectl");
  EXPECT_TRUE(tracks.Awaited(id));
  EXPECT_EQ(tracks.Read(id, [] { return nullptr; }).scaled_by, "kubectl");
  tracks.Saw(Deployment("9"));
  EXPECT_TRUE(tracks.Awaited(id)) << "an older one";
  tracks.Saw(Deployment("10"));
  EXPECT_FALSE(tracks.Awaited(id));
  EXPECT_EQ(tracks.Read(id, [] { return nullptr; }).scaled_by, std::nullopt) << "the watch says so itself";
  tracks.Expect(id, "9");
  EXPECT_FALSE(tracks.Awaited(id)) << "the event came before the answer";
  tracks.Expect(id, "12");
  clock.Advance(Seconds(30));
  EXPECT_FALSE(tracks.Awaited(id)) << "a watch that missed it holds nothing up for good";
}

TEST(Tracks, WhatIsUncertainIsReadOnce) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  tracks.MarkUncertain(id);
  EXPECT_TRUE(tracks.IsUncertain(id));
  tracks.Expect(id, "3");
  EXPECT_FALSE(tracks.IsUncertain(id));
}

// D1: an event that came between the look at the store and the look at what is awaited made an old state look new: a
// drift that was none.
TEST(Tracks, AnEventInTheMiddleOfAReadingMakesNoOldStateNew) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  tracks.Expect(id, "10", "kubectl");
  auto reading = tracks.Read(id, [&] {
    auto old = std::make_shared<const kube::Object>(Deployment("9"));
    tracks.Saw(Deployment("10"));
    return old;
  });
  EXPECT_TRUE(reading.awaited);
  EXPECT_EQ(reading.scaled_by, "kubectl");
  EXPECT_EQ(reading.object->resource_version(), "9");
  reading = tracks.Read(id, [] { return std::make_shared<const kube::Object>(Deployment("10")); });
  EXPECT_FALSE(reading.awaited);
}

// D1: a ServiceAccount that an upgrade made looked deleted until its watch had caught up.
TEST(Tracks, WhateverAnApplyHasWrittenIsAwaited) {
  FakeClock clock;
  Tracks tracks(clock);
  using Action = kube::Change::Action;
  auto change = [](const char* name, Action action) {
    return kube::Change{.id = {"", "ServiceAccount", "n", name}, .action = action, .resource_version = "7"};
  };
  tracks.ExpectWritten({change("created", Action::kCreated), change("configured", Action::kConfigured),
                        change("unchanged", Action::kUnchanged), change("failed", Action::kFailed)});
  EXPECT_TRUE(tracks.Awaited({"", "ServiceAccount", "n", "created"}));
  EXPECT_TRUE(tracks.Awaited({"", "ServiceAccount", "n", "configured"}));
  EXPECT_FALSE(tracks.Awaited({"", "ServiceAccount", "n", "unchanged"}));
  EXPECT_FALSE(tracks.Awaited({"", "ServiceAccount", "n", "failed"}));
  tracks.ForgetKind({"", "ServiceAccount"});
  EXPECT_FALSE(tracks.Awaited({"", "ServiceAccount", "n", "created"})) << "nobody watches them any more";
}

TEST(Tracks, ForgettingAKindLeavesTheOthers) {
  FakeClock clock;
  Tracks tracks(clock);
  tracks.Expect({"", "Service", "n", "a"}, "7");
  tracks.Expect({"", "ServiceAccount", "n", "a"}, "7");
  tracks.Expect({"", "ServiceAccount", "n", "b"}, "7");
  tracks.ForgetKind({"", "Service"});
  tracks.Forget({"", "ServiceAccount", "n", "b"});
  EXPECT_FALSE(tracks.Awaited({"", "Service", "n", "a"}));
  EXPECT_TRUE(tracks.Awaited({"", "ServiceAccount", "n", "a"}));
  EXPECT_FALSE(tracks.Awaited({"", "ServiceAccount", "n", "b"}));
}

// What was kept of a deleted object stayed for as long as the operator ran.
TEST(Tracks, NothingIsKeptOfWhatIsGone) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  tracks.Expect(id, "5");
  tracks.SawGo(Deployment("4"));
  EXPECT_TRUE(tracks.Awaited(id)) << "our write came after that: it is there again";
  tracks.SawGo(Deployment("6"));
  tracks.Expect(id, "1");
  EXPECT_TRUE(tracks.Awaited(id)) << "an object that is made anew in a new cluster has small versions";
}

// U2: a pod that stays Terminating on a dead node made a healthy upgrade fail, and with Rollback undid it.
TEST(Tracks, APodThatNeverGoesIsWaitedForAMinute) {
  FakeClock clock;
  Tracks tracks(clock);
  Workload workload = testing::NewWorkload(kube::HealthState::kCurrent);
  tracks.Expect(workload.id, "5");
  EXPECT_FALSE(tracks.Outlived(workload)) << "none terminates";
  workload.terminating = 1;
  EXPECT_FALSE(tracks.Outlived(workload));
  clock.Advance(Seconds(59));
  EXPECT_FALSE(tracks.Outlived(workload));
  workload.health = {kube::HealthState::kInProgress, "a new pod isn't ready"};
  EXPECT_FALSE(tracks.Outlived(workload));
  workload.health = {kube::HealthState::kCurrent, ""};
  clock.Advance(Seconds(1));
  EXPECT_FALSE(tracks.Outlived(workload)) << "the time begins when nothing else is wrong";
  clock.Advance(Seconds(60));
  EXPECT_TRUE(tracks.Outlived(workload));
  workload.terminating = 0;
  EXPECT_FALSE(tracks.Outlived(workload));
}

}  // namespace
}  // namespace capi::ops
