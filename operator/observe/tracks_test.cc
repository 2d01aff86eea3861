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
  EXPECT_EQ(tracks.ScaledBy(id), "kubectl");
  tracks.Saw(Deployment("9"));
  EXPECT_TRUE(tracks.Awaited(id)) << "an older one";
  tracks.Saw(Deployment("10"));
  EXPECT_FALSE(tracks.Awaited(id));
  EXPECT_EQ(tracks.ScaledBy(id), std::nullopt) << "the watch says so itself";
  tracks.Expect(id, "9");
  EXPECT_FALSE(tracks.Awaited(id)) << "the event came before the answer";
  tracks.Expect(id, "12");
  clock.Advance(Seconds(30));
  EXPECT_FALSE(tracks.Awaited(id)) << "a watch that missed it holds nothing up for good";
}

TEST(Tracks, ADoubtEndsWithALook) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  tracks.Doubt(id);
  EXPECT_TRUE(tracks.Doubted(id));
  tracks.Expect(id, "3");
  EXPECT_FALSE(tracks.Doubted(id));
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
