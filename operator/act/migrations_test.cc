#include "operator/act/migrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/testing/await.h"
#include "operator/observe/tracks.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;

CrdState Things(const std::string& version = "1", const std::string& name = "things.x") {
  CrdState crd;
  crd.name = name;
  crd.resource_version = version;
  return crd;
}

// The worker, with a migration that the test ends.
class MigrationsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ctx_.stop = stop_.get_token();
    ctx_.clock = &clock_;
    thread_ = std::thread([this] { migrations_.Run(ctx_); });
  }
  void TearDown() override {
    stop_.request_stop();
    End(Ok());
    thread_.join();
  }
  MigrationProgress Ask(const std::string& key, const CrdState& crd, bool runs = true) {
    return migrations_.Ask(key, crd, runs);
  }
  void End(Status status) {
    MutexLock lock(mu_);
    end_ = std::move(status);
    changed_.notify_all();
  }
  bool Moves() {
    MutexLock lock(mu_);
    return moves_;
  }
  // What the test ends this run with.
  Status Wait(const std::string& crd) {
    MutexLock lock(mu_);
    runs_.push_back(crd);
    changed_.wait(mu_, [this] {
      mu_.AssertHeld();
      return end_.has_value();
    });
    Status status = *end_;
    end_.reset();
    return status;
  }
  size_t Runs() {
    MutexLock lock(mu_);
    return runs_.size();
  }
  // Asks, and has the try fail. Returns how it stands then.
  MigrationProgress FailsOnce(const std::string& key = "a") {
    size_t woken = Woken();
    Ask(key, Things());
    End(Error{Code::kInternal, "no endpoints", {}});
    EXPECT_TRUE(Await([&] { return Woken() == woken + 1; }));
    return migrations_.ProgressOf("things.x");
  }
  // Another CRD's migration comes and goes; so has any that was to come before it.
  void PassATurn() {
    size_t woken = Woken();
    Ask("z", Things("1", "zebras.x"));
    End(Ok());
    EXPECT_TRUE(Await([&] { return Woken() == woken + 1; }));
  }
  size_t Woken() {
    MutexLock lock(mu_);
    return woken_.size();
  }
  std::string LastWoken() {
    MutexLock lock(mu_);
    return woken_.empty() ? "" : woken_.back();
  }

  FakeClock clock_;
  std::stop_source stop_;
  Context ctx_;
  Mutex mu_;
  std::condition_variable_any changed_;
  std::optional<Status> end_ CAPI_GUARDED_BY(mu_);
  std::vector<std::string> runs_ CAPI_GUARDED_BY(mu_);  // CRDs
  bool moves_ CAPI_GUARDED_BY(mu_) = true;              // each run comes to another object
  std::vector<std::string> woken_ CAPI_GUARDED_BY(mu_);
  Migrations migrations_{[this](const Context&, const std::string& crd, lifecycle::MigrationCursor& cursor,
                                const lifecycle::GoOn& go_on) -> Result<std::string> {
                           if (Moves()) ++cursor.objects;
                           TRY(go_on());
                           TRY(Wait(crd));
                           TRY(go_on());
                           return std::string("5");
                         },
                         [this](const std::string& key) {
                           MutexLock lock(mu_);
                           woken_.push_back(key);
                         },
                         clock_};
  std::thread thread_;
};

// U3: who asks doesn't wait, is told how it stands, and woken when it ends.
TEST_F(MigrationsTest, RunBesideThePasses) {
  EXPECT_EQ(Ask("a", Things()).objects, 0u);
  Ask("b", Things());
  ASSERT_TRUE(Await([&] { return migrations_.ProgressOf("things.x").objects == 1; }));
  End(Ok());
  ASSERT_TRUE(Await([&] { return Woken() == 2; }));
  MutexLock lock(mu_);
  EXPECT_EQ(runs_.size(), 1u) << "one for both";
  EXPECT_THAT(woken_, ElementsAre("a", "b"));
}

// U3, F6: a failure is told, and tried again after 15 s, 30 s and so on, if it is still asked for. One that came
// further begins anew.
TEST_F(MigrationsTest, AFailureIsTriedAgainLater) {
  MigrationProgress progress = FailsOnce();
  ASSERT_TRUE(progress.error);
  EXPECT_EQ(progress.error->message, "no endpoints");
  EXPECT_EQ(progress.next, Seconds(15));
  {
    MutexLock lock(mu_);
    moves_ = false;
  }
  for (int delay : {15, 30, 60, 120, 240, 480, 600}) {
    SCOPED_TRACE(delay);
    EXPECT_EQ(Ask("a", Things()).next, Seconds(delay));
    clock_.Advance(Seconds(delay));
    if (delay == 15) {
      PassATurn();
      EXPECT_EQ(Runs(), 2u) << "nobody has asked since";
    }
    size_t runs = Runs();
    progress = FailsOnce();
    EXPECT_EQ(Runs(), runs + 1);
  }
  EXPECT_EQ(progress.next, Seconds(600));
  clock_.Advance(Seconds(600));
  {
    MutexLock lock(mu_);
    moves_ = true;
  }
  EXPECT_EQ(FailsOnce().next, Seconds(15)) << "it came further";
}

// U3: who asks while it runs has asked for what runs, and not for another try after it.
TEST_F(MigrationsTest, AFailureEndsWhatWasAskedForMeanwhile) {
  Ask("a", Things());
  ASSERT_TRUE(Await([&] { return Runs() == 1; }));
  Ask("b", Things());
  End(Error{Code::kInternal, "no endpoints", {}});
  ASSERT_TRUE(Await([&] { return Woken() == 2; }));
  clock_.Advance(Seconds(15));
  PassATurn();
  EXPECT_EQ(Runs(), 2u) << "the other CRD's; nobody has asked since";
}

// F5: one that is tried again, or whose turn is behind another CRD's, has no time: each pass took it for due at once,
// and asked again.
TEST_F(MigrationsTest, WhatWaitsForItsTurnHasNoTime) {
  FailsOnce();
  Ask("b", Things("1", "gadgets.x"));
  ASSERT_TRUE(Await([&] { return Runs() == 2; }));
  clock_.Advance(Seconds(60));
  MigrationProgress progress = Ask("a", Things());
  EXPECT_FALSE(progress.next) << "behind the other one";
  EXPECT_TRUE(progress.error) << "what the last try said";
  EXPECT_FALSE(migrations_.ProgressOf("things.x").next);
  End(Ok());
  ASSERT_TRUE(Await([&] { return Runs() == 3; }));
  EXPECT_FALSE(Ask("a", Things()).next) << "it runs";
  End(Error{Code::kInternal, "no endpoints", {}});
  ASSERT_TRUE(Await([&] { return LastWoken() == "a"; })) << "and then its provider is woken";
}

// U3: until the watch shows the end, each pass asked again, and a job ran that found nothing to do.
TEST_F(MigrationsTest, AnEndIsNotAskedForAgainUntilItIsSeen) {
  Ask("a", Things("4"));
  End(Ok());
  ASSERT_TRUE(Await([&] { return Woken() == 1; }));
  EXPECT_EQ(Ask("a", Things("4")).objects, 1u);
  PassATurn();
  EXPECT_EQ(Runs(), 2u) << "the CRD at version 5 says that nothing is left";
  Ask("a", Things("6"));
  ASSERT_TRUE(Await([&] { return Runs() == 3; })) << "something else is stored since";
}

// F3: where etcd was restored from a backup, the CRD is older than the end, and stays so. (It was never begun again.)
TEST_F(MigrationsTest, AnEndThatIsNeverSeenIsNoneAfterAWhile) {
  Ask("a", Things("4"));
  End(Ok());
  ASSERT_TRUE(Await([&] { return Woken() == 1; }));
  EXPECT_EQ(Ask("a", Things("3")).next, kWatchLag) << "no event may come";
  clock_.Advance(kWatchLag);
  EXPECT_FALSE(Ask("a", Things("3")).next);
  ASSERT_TRUE(Await([&] { return Runs() == 2; }));
}

// P4, P1: what nobody needs stops, without a failure, and goes on from where it was.
TEST_F(MigrationsTest, WhatIsWithdrawnStops) {
  Ask("a", Things());
  ASSERT_TRUE(Await([&] { return Runs() == 1; }));
  migrations_.Withdraw("a");
  End(Ok());
  clock_.AwaitWaiters(1);
  EXPECT_EQ(Woken(), 0u);
  EXPECT_FALSE(migrations_.ProgressOf("things.x").error);
  EXPECT_EQ(Ask("b", Things()).objects, 1u);
  ASSERT_TRUE(Await([&] { return Runs() == 2; })) << "at once";
  Ask("a", Things());
  migrations_.Withdraw("a");
  End(Ok());
  ASSERT_TRUE(Await([&] { return Woken() == 1; })) << "somebody else needs it";
  EXPECT_EQ(migrations_.ProgressOf("things.x").objects, 2u);
}

// U3, P4: one that had failed tells of no next try while nobody needs it, and begins at once when somebody does again.
TEST_F(MigrationsTest, WhatIsWithdrawnHasNotFailed) {
  EXPECT_TRUE(FailsOnce().error);
  migrations_.Withdraw("a");
  EXPECT_FALSE(migrations_.ProgressOf("things.x").error);
  EXPECT_FALSE(Ask("a", Things()).error) << "it hasn't failed for who asks now";
  ASSERT_TRUE(Await([&] { return Runs() == 2; }));
  migrations_.Withdraw("a");
  {
    MutexLock lock(mu_);
    moves_ = false;
    end_ = Error{Code::kInternal, "no endpoints", {}};
    changed_.notify_all();
  }
  clock_.AwaitWaiters(1);
  EXPECT_FALSE(migrations_.ProgressOf("things.x").error) << "nor while it stops";
}

// F5, X1: a deletion asks at zero replicas too, where it goes on failing: it is tried again no sooner because a pass
// did something else meanwhile. Once the workloads run, it is tried at once.
TEST_F(MigrationsTest, AtZeroABackOffGoesOn) {
  EXPECT_EQ(FailsOnce().next, Seconds(15));
  migrations_.Withdraw("a");
  MigrationProgress progress = Ask("a", Things(), false);
  EXPECT_TRUE(progress.error);
  EXPECT_EQ(progress.next, Seconds(15));
  PassATurn();
  EXPECT_EQ(Runs(), 2u) << "of another CRD";
  migrations_.Withdraw("a");
  {
    MutexLock lock(mu_);
    moves_ = false;
  }
  EXPECT_EQ(FailsOnce().next, Seconds(15)) << "its failures are counted anew";
  EXPECT_EQ(Runs(), 3u);
}

// What waits for its turn and isn't needed any more is not begun.
TEST_F(MigrationsTest, WhatIsWithdrawnBeforeItsTurnIsNotBegun) {
  Ask("a", Things("1", "gadgets.x"));
  ASSERT_TRUE(Await([&] { return Runs() == 1; }));
  Ask("b", Things());
  Ask("c", Things("1", "widgets.x"));
  Ask("d", Things("1", "foxes.x"));
  Ask("e", Things("1", "foxes.x"));
  migrations_.Withdraw("b");
  migrations_.Forget("c");
  migrations_.Withdraw("e");
  migrations_.Forget("d");
  End(Ok());
  ASSERT_TRUE(Await([&] { return Woken() == 1; }));
  clock_.AwaitWaiters(1);
  MutexLock lock(mu_);
  EXPECT_THAT(runs_, ElementsAre("gadgets.x"));
}

// One of two who wait goes: the other one's is begun.
TEST_F(MigrationsTest, WhatAnotherStillNeedsIsBegun) {
  Ask("a", Things("1", "gadgets.x"));
  ASSERT_TRUE(Await([&] { return Runs() == 1; }));
  Ask("b", Things());
  Ask("c", Things());
  migrations_.Withdraw("b");
  End(Ok());
  EXPECT_TRUE(Await([&] { return Runs() == 2; }));
}

// What is known of a CRD is kept for those who asked, and for nobody else.
TEST_F(MigrationsTest, WhoIsGoneIsForgotten) {
  Ask("a", Things("4"));
  End(Ok());
  ASSERT_TRUE(Await([&] { return Woken() == 1; }));
  migrations_.Forget("b");
  Ask("a", Things("4"));
  PassATurn();
  {
    MutexLock lock(mu_);
    EXPECT_THAT(runs_, ElementsAre("things.x", "zebras.x")) << "the end that the watch doesn't show yet";
  }
  migrations_.Forget("a");
  EXPECT_EQ(migrations_.ProgressOf("things.x").objects, 0u);
  FailsOnce();
  migrations_.Forget("a");
  EXPECT_FALSE(migrations_.ProgressOf("things.x").error);
  Ask("a", Things());
  ASSERT_TRUE(Await([&] { return migrations_.ProgressOf("things.x").objects == 1; }));
  migrations_.Forget("a");
  End(Ok());
  clock_.AwaitWaiters(1);
  EXPECT_EQ(migrations_.ProgressOf("things.x").objects, 0u) << "who went while it ran";
}

}  // namespace
}  // namespace capi::ops
