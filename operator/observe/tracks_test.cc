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

kube::ObjectPtr None() { return nullptr; }

class TracksTest : public ::testing::Test {
 protected:
  bool IsAwaited(const kube::Resource& watched = V1()) { return tracks_.Read(watched, id_, None).awaited.has_value(); }
  bool IsAwaited(const kube::ObjectId& id) { return tracks_.Read(V1(), id, None).awaited.has_value(); }

  // A kind that is applied at two versions has two watches.
  void BothSaw(const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
    for (const kube::Resource& watched : {V1(), OtherVersion()}) tracks_.Saw(watched, was, is);
  }

  FakeClock clock_;
  Tracks tracks_{clock_};
  const kube::ObjectId id_ = testing::DeploymentId();
};

TEST_F(TracksTest, WhatWasWrittenIsAwaitedUntilItIsSeen) {
  EXPECT_FALSE(IsAwaited());
  tracks_.Expect(id_, "10", "kubectl");
  EXPECT_TRUE(IsAwaited());
  EXPECT_EQ(tracks_.Read(V1(), id_, None).scaled_by, "kubectl");
  tracks_.Saw(V1(), nullptr, Deployment("9"));
  EXPECT_TRUE(IsAwaited()) << "an older one";
  tracks_.Saw(V1(), Deployment("9"), Deployment("10"));
  EXPECT_FALSE(IsAwaited());
  EXPECT_EQ(tracks_.Read(V1(), id_, None).scaled_by, std::nullopt) << "the watch says so itself";
  tracks_.Expect(id_, "9");
  EXPECT_FALSE(IsAwaited()) << "the event came before the answer";
  tracks_.Expect(id_, "12");
  clock_.Advance(Seconds(30));
  EXPECT_FALSE(IsAwaited()) << "a watch that missed it holds nothing up for good";
}

// D1: an object that somebody deleted, or took our label from, before the answer to our write of it was heard stayed
// away for half a minute.
TEST_F(TracksTest, AnEndThatIsShownBeforeTheAnswerIsHeardIsNotAwaited) {
  tracks_.Saw(V1(), nullptr, Deployment("9"));
  tracks_.Saw(V1(), Deployment("9"), Deployment("10"));
  tracks_.Saw(V1(), Deployment("11"), nullptr);
  tracks_.Expect(id_, "10");
  EXPECT_FALSE(IsAwaited());
  tracks_.Expect(id_, "12");
  EXPECT_TRUE(IsAwaited()) << "it was made anew";
  tracks_.Saw(V1(), nullptr, Deployment("12"));
  EXPECT_FALSE(IsAwaited());
  tracks_.Saw(V1(), Deployment("13"), nullptr);
  tracks_.MarkUncertain(id_);
  EXPECT_TRUE(tracks_.IsUncertain(id_)) << "it may be there again";
  tracks_.Expect(id_, "12");
  EXPECT_FALSE(tracks_.IsUncertain(id_));
  EXPECT_FALSE(IsAwaited());
}

// D1, F3: what was made since the backup is missing from the list after a restore. Its old version, which is no more,
// counted as the end of what D1 put back at a smaller one: it was "missing" again, and restored once more.
TEST_F(TracksTest, WhatANewListLacksHidesNoLaterWrite) {
  tracks_.Saw(V1(), nullptr, Deployment("1000"));
  tracks_.Saw(V1(), Deployment("1000"), nullptr);
  tracks_.Expect(id_, "501");
  EXPECT_TRUE(IsAwaited());
  tracks_.Saw(V1(), nullptr, Deployment("501"));
  EXPECT_FALSE(IsAwaited());
}

TEST_F(TracksTest, WhatIsUncertainIsReadOnce) {
  tracks_.MarkUncertain(id_);
  EXPECT_TRUE(tracks_.IsUncertain(id_));
  tracks_.Expect(id_, "3");
  EXPECT_FALSE(tracks_.IsUncertain(id_));
}

// D1: an event that came between the look at the store and the look at what is awaited made an old state look new: a
// drift that was none.
TEST_F(TracksTest, AnEventInTheMiddleOfAReadingMakesNoOldStateNew) {
  tracks_.Expect(id_, "10", "kubectl");
  auto reading = tracks_.Read(V1(), id_, [&] {
    tracks_.Saw(V1(), nullptr, Deployment("10"));
    return Deployment("9");
  });
  EXPECT_TRUE(reading.awaited.has_value());
  EXPECT_EQ(reading.scaled_by, "kubectl");
  EXPECT_EQ(reading.object->resource_version(), "9");
  reading = tracks_.Read(V1(), id_, [] { return Deployment("10"); });
  EXPECT_FALSE(reading.awaited.has_value());
}

// D1: a ServiceAccount that an upgrade made looked deleted until its watch had caught up.
TEST_F(TracksTest, WhateverAnApplyHasWrittenIsAwaited) {
  const kube::ObjectId account{"", "ServiceAccount", "n", "a"};
  TrackedApply(tracks_).on_written(account, "7");
  EXPECT_TRUE(IsAwaited(account));
}

// D1: whoever reads knows for how long the answer may be old: no event says so.
TEST_F(TracksTest, SayHowLongTheyWait) {
  tracks_.Expect(id_, "10");
  EXPECT_EQ(tracks_.Read(V1(), id_, None).awaited, kWatchLag);
  clock_.Advance(Seconds(29));
  EXPECT_EQ(tracks_.Read(V1(), id_, None).awaited, Seconds(1));
  clock_.Advance(Seconds(1));
  EXPECT_EQ(tracks_.Read(V1(), id_, None).awaited, std::nullopt);
}

// F3: etcd was restored from a backup: versions begin anew, and nothing that was written after it is still to come.
TEST_F(TracksTest, AWatchThatGoesBackIsBelieved) {
  tracks_.Saw(V1(), nullptr, Deployment("200"));
  tracks_.Expect(id_, "205", "kubectl");
  tracks_.Saw(V1(), Deployment("200"), Deployment("100"));
  EXPECT_FALSE(IsAwaited()) << "205 never was";
  tracks_.Expect(id_, "101");
  EXPECT_TRUE(IsAwaited()) << "200 isn't what the watch shows now";
  EXPECT_EQ(tracks_.Read(V1(), id_, None).scaled_by, std::nullopt);
}

// The same of what the watch had shown already, as it has of nearly everything: it was awaited once more.
TEST_F(TracksTest, WhatAWatchHasShownIsNotStillToComeAfterARestore) {
  tracks_.Saw(V1(), nullptr, Deployment("200"));
  tracks_.Expect(id_, "205");
  tracks_.Saw(V1(), Deployment("200"), Deployment("205"));
  tracks_.Saw(V1(), Deployment("205"), Deployment("100"));
  EXPECT_FALSE(IsAwaited());
}

// D1: a watch that ended told nothing of what went meanwhile: what it had shown held for the next one, too.
TEST_F(TracksTest, AWatchThatBeginsAnewHasEverythingStillToShow) {
  BothSaw(nullptr, Deployment("10"));
  tracks_.Expect(id_, "10");
  tracks_.ForgetWatch(kube::Builtin("DaemonSet"));
  EXPECT_FALSE(IsAwaited());
  tracks_.ForgetWatch(OtherVersion());
  EXPECT_FALSE(IsAwaited());
  EXPECT_TRUE(IsAwaited(OtherVersion()));
  tracks_.Saw(OtherVersion(), nullptr, Deployment("10"));
  EXPECT_FALSE(IsAwaited(OtherVersion()));
}

TEST_F(TracksTest, WhatIsNotThereIsNotAwaited) {
  tracks_.Expect({"", "ServiceAccount", "n", "a"}, "7");
  tracks_.Expect({"", "ServiceAccount", "n", "b"}, "7");
  tracks_.Forget({"", "ServiceAccount", "n", "b"});
  EXPECT_TRUE(IsAwaited(kube::ObjectId{"", "ServiceAccount", "n", "a"}));
  EXPECT_FALSE(IsAwaited(kube::ObjectId{"", "ServiceAccount", "n", "b"}));
}

// What was kept of a deleted object stayed for as long as the operator ran.
TEST_F(TracksTest, NothingIsKeptOfWhatIsGoneButForHalfAMinute) {
  tracks_.Expect(id_, "5");
  tracks_.Saw(V1(), Deployment("4"), nullptr);
  EXPECT_TRUE(IsAwaited()) << "our write came after that: it is there again";
  tracks_.Saw(V1(), nullptr, Deployment("6"));
  tracks_.Saw(V1(), Deployment("6"), nullptr);
  tracks_.Expect(id_, "1");
  EXPECT_TRUE(IsAwaited()) << "an object that is made anew in a new cluster has small versions";

  tracks_.Saw(V1(), Deployment("7"), nullptr);
  tracks_.Expect(id_, "6");
  EXPECT_FALSE(IsAwaited());
  clock_.Advance(Seconds(20));
  tracks_.Saw(V1(), nullptr, Deployment("8"));
  tracks_.Saw(V1(), Deployment("9"), nullptr);
  clock_.Advance(Seconds(20));
  tracks_.Expect(id_, "8");
  EXPECT_FALSE(IsAwaited()) << "its second end counts, too";
  clock_.Advance(Seconds(30));
  tracks_.Expect(id_, "8");
  EXPECT_TRUE(IsAwaited()) << "long enough for an answer";
}

// D1: a kind that is applied at two versions has two watches. One showed our write, and what the other, which was
// behind, still had counted as up to date: a drift that was none was restored, with an event, and counted as a fight.
TEST_F(TracksTest, EachWatchHasToShowAWrite) {
  BothSaw(nullptr, Deployment("9"));
  tracks_.Expect(id_, "10");
  tracks_.Saw(V1(), Deployment("9"), Deployment("10"));
  EXPECT_FALSE(IsAwaited());
  EXPECT_TRUE(IsAwaited(OtherVersion()));
  tracks_.Saw(OtherVersion(), Deployment("9"), Deployment("10"));
  EXPECT_FALSE(IsAwaited(OtherVersion()));

  BothSaw(Deployment("11"), nullptr);
  tracks_.Expect(id_, "10");
  EXPECT_FALSE(IsAwaited()) << "the answer came last";
  EXPECT_FALSE(IsAwaited(OtherVersion()));
}

// F3, D1: the watch that lists anew last made nothing of a write that came after the first one had: its old state
// counted as up to date.
TEST_F(TracksTest, AWriteAfterARestoreIsAwaitedOfEachWatch) {
  BothSaw(nullptr, Deployment("200"));
  tracks_.Expect(id_, "205");
  tracks_.Saw(V1(), Deployment("200"), Deployment("100"));
  EXPECT_FALSE(IsAwaited()) << "205 never was";
  tracks_.Expect(id_, "101");
  tracks_.Saw(OtherVersion(), Deployment("200"), Deployment("100"));
  EXPECT_TRUE(IsAwaited());
  EXPECT_TRUE(IsAwaited(OtherVersion()));
  tracks_.Saw(V1(), Deployment("100"), Deployment("101"));
  EXPECT_FALSE(IsAwaited());
}

// The list that one watch lacks an object in says nothing of what another has shown.
TEST_F(TracksTest, WhatOneWatchLacksAnotherStillHas) {
  BothSaw(nullptr, Deployment("9"));
  tracks_.Saw(OtherVersion(), Deployment("9"), nullptr);
  tracks_.Expect(id_, "9");
  EXPECT_FALSE(IsAwaited());
  EXPECT_TRUE(IsAwaited(OtherVersion()));
}

// An end that was told while a later write was awaited left a track for as long as the operator ran, and so did a write
// whose object no watch ever showed.
TEST_F(TracksTest, WhatNoWatchHasIsForgottenAfterHalfAMinute) {
  const kube::ObjectId never{"apps", "Deployment", "n", "never-shown"};
  tracks_.Saw(V1(), nullptr, Deployment("4"));
  tracks_.Expect(id_, "5");
  tracks_.Expect(never, "5");
  tracks_.Saw(V1(), Deployment("4"), nullptr);
  EXPECT_EQ(tracks_.size(), 2u);
  clock_.Advance(Seconds(29));
  tracks_.Saw(V1(), Deployment("5"), nullptr);
  EXPECT_EQ(tracks_.size(), 2u);
  clock_.Advance(Seconds(1));
  tracks_.Expect(id_, "5");
  EXPECT_EQ(tracks_.size(), 1u) << "only what was shown, or told of, a moment ago";
  clock_.Advance(kWatchLag);
  tracks_.Saw(V1(), nullptr, Deployment("50"));
  EXPECT_EQ(tracks_.size(), 1u) << "it is there";
  tracks_.Saw(V1(), Deployment("50"), nullptr);
  EXPECT_EQ(tracks_.size(), 0u) << "a new list lacks it, and nothing is awaited";
}

// U2: a pod that stays Terminating on a dead node made a healthy upgrade fail, and with Rollback undid it.
TEST_F(TracksTest, APodThatNeverGoesIsWaitedForAMinute) {
  Workload workload = testing::NewWorkload(kube::HealthState::kCurrent);
  tracks_.Expect(workload.id, "5");
  EXPECT_FALSE(tracks_.Outlived(workload)) << "none terminates";
  workload.terminating = 1;
  EXPECT_FALSE(tracks_.Outlived(workload));
  clock_.Advance(Seconds(59));
  EXPECT_FALSE(tracks_.Outlived(workload));
  workload.health = {kube::HealthState::kInProgress, "a new pod isn't ready"};
  EXPECT_FALSE(tracks_.Outlived(workload));
  workload.health = {kube::HealthState::kCurrent, ""};
  clock_.Advance(Seconds(1));
  EXPECT_FALSE(tracks_.Outlived(workload)) << "the time begins when nothing else is wrong";
  clock_.Advance(Seconds(60));
  EXPECT_TRUE(tracks_.Outlived(workload));
  workload.terminating = 0;
  EXPECT_FALSE(tracks_.Outlived(workload));
}

}  // namespace
}  // namespace capi::ops
