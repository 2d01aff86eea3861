#include "kube/client/outage_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/testing/await.h"
#include "base/testing/waiting_clock.h"

namespace capi::kube {
namespace {

class OutageGateTest : public testing::Test {  // docs/behaviour.md F3
 protected:
  OutageGateTest() { ctx_.clock = &clock_; }
  void Lose() { gate_.Lost(ctx_, clock_.Monotonic(), Error{Code::kUnavailable, "refused", {}}); }

  FakeClock clock_;
  Context ctx_;
  OutageGate gate_;
};

TEST_F(OutageGateTest, LetsOneThroughAtOnceThenOneEachHalfSecond) {
  EXPECT_TRUE(gate_.Enter(ctx_).ok());
  Lose();
  EXPECT_TRUE(gate_.Enter(ctx_).ok()) << "one may try at once";
  std::atomic<int> passed = 0;
  std::vector<std::jthread> callers;
  for (int i = 0; i < 3; ++i) callers.emplace_back([&] { passed += gate_.Enter(ctx_).ok() ? 1 : 0; });
  clock_.AwaitWaiters(3);
  EXPECT_EQ(passed, 0);
  clock_.Advance(Millis(500));
  EXPECT_TRUE(Await([&] { return passed >= 1; }));
  clock_.AwaitWaiters(2);
  EXPECT_EQ(passed, 1);
  gate_.Answered(ctx_);  // the one that passed got an answer: everybody goes
  callers.clear();
  EXPECT_EQ(passed, 3);
}

TEST_F(OutageGateTest, AFurtherLossGivesNobodyAnotherTurn) {
  Lose();
  ASSERT_TRUE(gate_.Enter(ctx_).ok());
  Lose();
  EXPECT_FALSE(gate_.Enter(ctx_.WithTimeout(Millis(100))).ok());
}

TEST_F(OutageGateTest, ANewOutageBeginsWithATurn) {
  Lose();
  ASSERT_TRUE(gate_.Enter(ctx_).ok());
  gate_.Answered(ctx_);
  clock_.Advance(Millis(1));
  Lose();
  EXPECT_TRUE(gate_.Enter(ctx_.WithTimeout(Millis(100))).ok()) << "the last one's turns are over";
}

TEST_F(OutageGateTest, FailsAtOnceWhoseDeadlineComesFirst) {
  Lose();
  ASSERT_TRUE(gate_.Enter(ctx_).ok());
  Status refused = gate_.Enter(ctx_.WithTimeout(Millis(100)));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.code(), Code::kUnavailable);
  EXPECT_EQ(refused.error().message, "refused");
}

// F5, U5: it looked like a request that the server has no answer to.
TEST_F(OutageGateTest, AnOutageUntilTheDeadlineIsNoRequestWithoutAnAnswer) {
  Lose();
  ASSERT_TRUE(gate_.Enter(ctx_).ok());
  Status ended;
  std::jthread caller([&] { ended = gate_.Enter(ctx_.WithTimeout(Millis(500))); });
  clock_.AwaitWaiters(1);
  clock_.Advance(Millis(500));
  caller.join();
  EXPECT_EQ(ended.code(), Code::kUnavailable);
  EXPECT_EQ(ended.error().message, "refused");
}

TEST_F(OutageGateTest, AStopEndsTheWait) {
  Lose();
  ASSERT_TRUE(gate_.Enter(ctx_).ok());
  std::stop_source stop;
  Status ended;
  std::jthread caller([&] { ended = gate_.Enter(ctx_.WithStop(stop.get_token())); });
  clock_.AwaitWaiters(1);
  stop.request_stop();
  caller.join();
  EXPECT_EQ(ended.code(), Code::kCancelled);
}

// By the real clock, which looks at nothing before it is told to. The last of them has its turn after ten seconds;
// those who had theirs while others came still count.
TEST_F(OutageGateTest, AnAnswerWakesWhoeverWaits) {
  WaitingClock clock;
  ctx_.clock = &clock;
  gate_.Lost(ctx_, clock.Monotonic(), Error{Code::kUnavailable, "refused", {}});
  std::vector<std::jthread> callers;
  for (int i = 0; i < 20; ++i) callers.emplace_back([&] { EXPECT_TRUE(gate_.Enter(ctx_).ok()); });
  EXPECT_TRUE(clock.AwaitBegun(20));
  MonoTime answered = clock.Monotonic();
  gate_.Answered(ctx_);
  callers.clear();
  EXPECT_LT(clock.Monotonic() - answered, Seconds(6));
}

TEST_F(OutageGateTest, AnOldLossDoesNotCloseItAfterANewerAnswer) {
  MonoTime started = clock_.Monotonic();
  clock_.Advance(Millis(10));
  gate_.Answered(ctx_);
  gate_.Lost(ctx_, started, Error{Code::kUnavailable, "refused", {}});
  ASSERT_TRUE(gate_.Enter(ctx_).ok());
  EXPECT_TRUE(gate_.Enter(ctx_).ok()) << "open";
}

}  // namespace
}  // namespace capi::kube
