#include "operator/observe/tracks.h"

#include <gtest/gtest.h>

#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

kube::ObjectPtr Deployment(const std::string& version) {
  const kube::ObjectId id = testing::DeploymentId();
  return std::make_shared<const kube::Object>(
      Json{{"apiVersion", "apps/v1"},
           {"kind", id.kind},
           {"metadata", {{"namespace", id.ns}, {"name", id.name}, {"resourceVersion", version}}}});
}

const kube::Resource& V1() { return kube::Builtin("Deployment"); }
kube::Resource OtherVersion() {
  kube::Resource resource = V1();
  resource.version = "v1beta1";
  return resource;
}

bool IsAwaited(Tracks& tracks, const kube::ObjectId& id, const kube::Resource& watched = V1()) {
  return tracks.Read(watched, id, [] { return nullptr; }).awaited.has_value();
}

TEST(Tracks, WhatWasWrittenIsAwaitedUntilItIsSeen) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  EXPECT_FALSE(IsAwaited(tracks, id));
  tracks.Expect(id, "10", "kubectl");
  EXPECT_TRUE(IsAwaited(tracks, id));
  EXPECT_EQ(tracks.Read(V1(), id, [] { return nullptr; }).scaled_by, "kubectl");
  tracks.Saw(V1(), nullptr, Deployment("9"));
  EXPECT_TRUE(IsAwaited(tracks, id)) << "an older one";
  tracks.Saw(V1(), Deployment("9"), Deployment("10"));
  EXPECT_FALSE(IsAwaited(tracks, id));
  EXPECT_EQ(tracks.Read(V1(), id, [] { return nullptr; }).scaled_by, std::nullopt) << "the watch says so itself";
  tracks.Expect(id, "9");
  EXPECT_FALSE(IsAwaited(tracks, id)) << "the event came before the answer";
  tracks.Expect(id, "12");
  clock.Advance(Seconds(30));
  EXPECT_FALSE(IsAwaited(tracks, id)) << "a watch that missed it holds nothing up for good";
}

// D1: an object that somebody deleted, or took our label from, before the answer to our write of it was heard stayed
// away for half a minute.
TEST(Tracks, AnEndThatIsShownBeforeTheAnswerIsHeardIsNotAwaited) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  tracks.Saw(V1(), nullptr, Deployment("9"));
  tracks.Saw(V1(), Deployment("9"), Deployment("10"));
  tracks.Saw(V1(), Deployment("11"), nullptr);
  tracks.Expect(id, "10");
  EXPECT_FALSE(IsAwaited(tracks, id));
  tracks.Expect(id, "12");
  EXPECT_TRUE(IsAwaited(tracks, id)) << "it was made anew";
  tracks.Saw(V1(), nullptr, Deployment("12"));
  EXPECT_FALSE(IsAwaited(tracks, id));
  tracks.Saw(V1(), Deployment("13"), nullptr);
  tracks.MarkUncertain(id);
  EXPECT_TRUE(tracks.IsUncertain(id)) << "it may be there again";
  tracks.Expect(id, "12");
  EXPECT_FALSE(tracks.IsUncertain(id));
  EXPECT_FALSE(IsAwaited(tracks, id));
}

// D1, F3: what was made since the backup is missing from the list after a restore. Its old version, which is no more,
// counted as the end of what D1 put back at a smaller one: it was "missing" again, and restored once more.
TEST(Tracks, WhatANewListLacksHidesNoLaterWrite) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  tracks.Saw(V1(), nullptr, Deployment("1000"));
  tracks.Saw(V1(), Deployment("1000"), nullptr);
  tracks.Expect(id, "501");
  EXPECT_TRUE(IsAwaited(tracks, id));
  tracks.Saw(V1(), nullptr, Deployment("501"));
  EXPECT_FALSE(IsAwaited(tracks, id));
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
  auto reading = tracks.Read(V1(), id, [&] {
    tracks.Saw(V1(), nullptr, Deployment("10"));
    return Deployment("9");
  });
  EXPECT_TRUE(reading.awaited.has_value());
  EXPECT_EQ(reading.scaled_by, "kubectl");
  EXPECT_EQ(reading.object->resource_version(), "9");
  reading = tracks.Read(V1(), id, [] { return Deployment("10"); });
  EXPECT_FALSE(reading.awaited.has_value());
}

// D1: a ServiceAccount that an upgrade made looked deleted until its watch had caught up.
TEST(Tracks, WhateverAnApplyHasWrittenIsAwaited) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId account{"", "ServiceAccount", "n", "a"};
  TrackedApply(tracks).on_written(account, "7");
  EXPECT_TRUE(IsAwaited(tracks, account));
}

// D1: whoever reads knows for how long the answer may be old: no event says so.
TEST(Tracks, SayHowLongTheyWait) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  auto none = [] { return nullptr; };
  tracks.Expect(id, "10");
  EXPECT_EQ(tracks.Read(V1(), id, none).awaited, kWatchLag);
  clock.Advance(Seconds(29));
  EXPECT_EQ(tracks.Read(V1(), id, none).awaited, Seconds(1));
  clock.Advance(Seconds(1));
  EXPECT_EQ(tracks.Read(V1(), id, none).awaited, std::nullopt);
}

// F3: etcd was restored from a backup: versions begin anew, and nothing that was written after it is still to come.
TEST(Tracks, AWatchThatGoesBackIsBelieved) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  tracks.Saw(V1(), nullptr, Deployment("200"));
  tracks.Expect(id, "205", "kubectl");
  tracks.Saw(V1(), Deployment("200"), Deployment("100"));
  EXPECT_FALSE(IsAwaited(tracks, id)) << "205 never was";
  tracks.Expect(id, "101");
  EXPECT_TRUE(IsAwaited(tracks, id)) << "200 isn't what the watch shows now";
  EXPECT_EQ(tracks.Read(V1(), id, [] { return nullptr; }).scaled_by, std::nullopt);
}

// The same of what the watch had shown already, as it has of nearly everything: it was awaited once more.
TEST(Tracks, WhatAWatchHasShownIsNotStillToComeAfterARestore) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  tracks.Saw(V1(), nullptr, Deployment("200"));
  tracks.Expect(id, "205");
  tracks.Saw(V1(), Deployment("200"), Deployment("205"));
  tracks.Saw(V1(), Deployment("205"), Deployment("100"));
  EXPECT_FALSE(IsAwaited(tracks, id));
}

// D1: a watch that ended told nothing of what went meanwhile: what it had shown held for the next one, too.
TEST(Tracks, AWatchThatBeginsAnewHasEverythingStillToShow) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  for (const kube::Resource& watched : {V1(), OtherVersion()}) tracks.Saw(watched, nullptr, Deployment("10"));
  tracks.Expect(id, "10");
  tracks.ForgetWatch(kube::Builtin("DaemonSet"));
  EXPECT_FALSE(IsAwaited(tracks, id));
  tracks.ForgetWatch(OtherVersion());
  EXPECT_FALSE(IsAwaited(tracks, id));
  EXPECT_TRUE(IsAwaited(tracks, id, OtherVersion()));
  tracks.Saw(OtherVersion(), nullptr, Deployment("10"));
  EXPECT_FALSE(IsAwaited(tracks, id, OtherVersion()));
}

TEST(Tracks, WhatIsNotThereIsNotAwaited) {
  FakeClock clock;
  Tracks tracks(clock);
  tracks.Expect({"", "ServiceAccount", "n", "a"}, "7");
  tracks.Expect({"", "ServiceAccount", "n", "b"}, "7");
  tracks.Forget({"", "ServiceAccount", "n", "b"});
  EXPECT_TRUE(IsAwaited(tracks, {"", "ServiceAccount", "n", "a"}));
  EXPECT_FALSE(IsAwaited(tracks, {"", "ServiceAccount", "n", "b"}));
}

// What was kept of a deleted object stayed for as long as the operator ran.
TEST(Tracks, NothingIsKeptOfWhatIsGoneButForHalfAMinute) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  tracks.Expect(id, "5");
  tracks.Saw(V1(), Deployment("4"), nullptr);
  EXPECT_TRUE(IsAwaited(tracks, id)) << "our write came after that: it is there again";
  tracks.Saw(V1(), nullptr, Deployment("6"));
  tracks.Saw(V1(), Deployment("6"), nullptr);
  tracks.Expect(id, "1");
  EXPECT_TRUE(IsAwaited(tracks, id)) << "an object that is made anew in a new cluster has small versions";

  tracks.Saw(V1(), Deployment("7"), nullptr);
  tracks.Expect(id, "6");
  EXPECT_FALSE(IsAwaited(tracks, id));
  clock.Advance(Seconds(20));
  tracks.Saw(V1(), nullptr, Deployment("8"));
  tracks.Saw(V1(), Deployment("9"), nullptr);
  clock.Advance(Seconds(20));
  tracks.Expect(id, "8");
  EXPECT_FALSE(IsAwaited(tracks, id)) << "its second end counts, too";
  clock.Advance(Seconds(30));
  tracks.Expect(id, "8");
  EXPECT_TRUE(IsAwaited(tracks, id)) << "long enough for an answer";
}

// D1: a kind that is applied at two versions has two watches. One showed our write, and what the other, which was
// behind, still had counted as up to date: a drift that was none was restored, with an event, and counted as a fight.
TEST(Tracks, EachWatchHasToShowAWrite) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  for (const kube::Resource& watched : {V1(), OtherVersion()}) tracks.Saw(watched, nullptr, Deployment("9"));
  tracks.Expect(id, "10");
  tracks.Saw(V1(), Deployment("9"), Deployment("10"));
  EXPECT_FALSE(IsAwaited(tracks, id));
  EXPECT_TRUE(IsAwaited(tracks, id, OtherVersion()));
  tracks.Saw(OtherVersion(), Deployment("9"), Deployment("10"));
  EXPECT_FALSE(IsAwaited(tracks, id, OtherVersion()));

  for (const kube::Resource& watched : {V1(), OtherVersion()}) tracks.Saw(watched, Deployment("11"), nullptr);
  tracks.Expect(id, "10");
  EXPECT_FALSE(IsAwaited(tracks, id)) << "the answer came last";
  EXPECT_FALSE(IsAwaited(tracks, id, OtherVersion()));
}

// F3, D1: the watch that lists anew last made nothing of a write that came after the first one had: its old state
// counted as up to date.
TEST(Tracks, AWriteAfterARestoreIsAwaitedOfEachWatch) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  for (const kube::Resource& watched : {V1(), OtherVersion()}) tracks.Saw(watched, nullptr, Deployment("200"));
  tracks.Expect(id, "205");
  tracks.Saw(V1(), Deployment("200"), Deployment("100"));
  EXPECT_FALSE(IsAwaited(tracks, id)) << "205 never was";
  tracks.Expect(id, "101");
  tracks.Saw(OtherVersion(), Deployment("200"), Deployment("100"));
  EXPECT_TRUE(IsAwaited(tracks, id));
  EXPECT_TRUE(IsAwaited(tracks, id, OtherVersion()));
  tracks.Saw(V1(), Deployment("100"), Deployment("101"));
  EXPECT_FALSE(IsAwaited(tracks, id));
}

// The list that one watch lacks an object in says nothing of what another has shown.
TEST(Tracks, WhatOneWatchLacksAnotherStillHas) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId();
  for (const kube::Resource& watched : {V1(), OtherVersion()}) tracks.Saw(watched, nullptr, Deployment("9"));
  tracks.Saw(OtherVersion(), Deployment("9"), nullptr);
  tracks.Expect(id, "9");
  EXPECT_FALSE(IsAwaited(tracks, id));
  EXPECT_TRUE(IsAwaited(tracks, id, OtherVersion()));
}

// An end that was told while a later write was awaited left a track for as long as the operator ran, and so did a write
// whose object no watch ever showed.
TEST(Tracks, WhatNoWatchHasIsForgottenAfterHalfAMinute) {
  FakeClock clock;
  Tracks tracks(clock);
  const kube::ObjectId id = testing::DeploymentId(), never{"apps", "Deployment", "n", "never-shown"};
  tracks.Saw(V1(), nullptr, Deployment("4"));
  tracks.Expect(id, "5");
  tracks.Expect(never, "5");
  tracks.Saw(V1(), Deployment("4"), nullptr);
  EXPECT_EQ(tracks.size(), 2u);
  clock.Advance(Seconds(29));
  tracks.Saw(V1(), Deployment("5"), nullptr);
  EXPECT_EQ(tracks.size(), 2u);
  clock.Advance(Seconds(1));
  tracks.Expect(id, "5");
  EXPECT_EQ(tracks.size(), 1u) << "only what was shown, or told of, a moment ago";
  clock.Advance(kWatchLag);
  tracks.Saw(V1(), nullptr, Deployment("50"));
  EXPECT_EQ(tracks.size(), 1u) << "it is there";
  tracks.Saw(V1(), Deployment("50"), nullptr);
  EXPECT_EQ(tracks.size(), 0u) << "a new list lacks it, and nothing is awaited";
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
