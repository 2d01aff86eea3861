// T5, T5a: strangers wait for their turns, and keep out neither each other nor those who need none.
#include "operator/review_turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/testing/await.h"

namespace capi::ops {
namespace {

// Somebody who takes a turn, in a thread of their own. The thread ends with it.
class Taker {
 public:
  explicit Taker(ReviewTurns& turns) {
    thread_ = std::jthread([this, &turns](const std::stop_token& stop) {
      turn_ = turns.Take(stop);
      done_ = true;
    });
  }
  bool Waits() const { return !done_; }
  bool Has() {
    if (!Await([this] { return done_.load(); })) return false;
    return turn_ != nullptr;
  }
  bool IsRefused() {
    return Await([this] { return done_.load(); }) && turn_ == nullptr;
  }
  void GiveBack() { turn_.reset(); }
  void Stop() { thread_.request_stop(); }

 private:
  ReviewTurns::Turn turn_;
  std::atomic<bool> done_ = false;
  std::jthread thread_;  // ends first
};

class ReviewTurnsTest : public ::testing::Test {
 protected:
  // The next of `some`: it has its turn, or waits for it.
  Taker& Take(std::vector<std::unique_ptr<Taker>>& some) {
    some.push_back(std::make_unique<Taker>(turns_));
    return *some.back();
  }
  void TakeAll() {
    for (size_t i = 0; i < ReviewTurns::kAtOnce; ++i) ASSERT_TRUE(Take(taken_).Has()) << i;
  }
  // So many wait, each behind the one before.
  void Line(size_t length) {
    for (size_t i = 0; i < length; ++i) {
      Take(line_);
      clock_.AwaitWaiters(++waiting_);
    }
  }

  FakeClock clock_;
  ReviewTurns turns_{clock_};
  std::vector<std::unique_ptr<Taker>> taken_, line_;
  size_t waiting_ = 0;
};

// Whoever came while four were asked about was refused at once, so that a scraper was kept out as long as strangers
// came often enough. No time passes here.
TEST_F(ReviewTurnsTest, TurnsComeInOrder) {
  TakeAll();
  Line(ReviewTurns::kInLine);
  for (size_t i = 0; i < line_.size(); ++i) {
    (i < taken_.size() ? taken_[i] : line_[i - taken_.size()])->GiveBack();
    EXPECT_TRUE(line_[i]->Has()) << i;
    if (i + 1 < line_.size()) {
      EXPECT_TRUE(line_[i + 1]->Waits()) << i;
    }
  }
}

TEST_F(ReviewTurnsTest, NobodyWaitsForLongerThanASecond) {
  TakeAll();
  clock_.Advance(Millis(500));
  taken_.front()->GiveBack();
  ASSERT_TRUE(Take(taken_).Has()) << "reviews end";
  Line(1);
  clock_.Advance(Millis(1000));
  EXPECT_TRUE(line_.front()->IsRefused());
}

TEST_F(ReviewTurnsTest, WhoseTurnComesWithinTheSecondHasIt) {
  TakeAll();
  clock_.Advance(Millis(500));
  taken_.front()->GiveBack();
  ASSERT_TRUE(Take(taken_).Has()) << "reviews end";
  Line(1);
  clock_.Advance(Millis(999));
  clock_.AwaitWaiters(1);
  taken_.back()->GiveBack();
  EXPECT_TRUE(line_.front()->Has());
}

// Four reviews that hang held a thread of each further stranger, and with them all threads.
TEST_F(ReviewTurnsTest, NobodyWaitsForReviewsThatHang) {
  TakeAll();
  clock_.Advance(Millis(600));
  Line(1);
  clock_.Advance(Millis(400));
  EXPECT_TRUE(line_.front()->IsRefused()) << "they have been under way for a second, now";
  EXPECT_TRUE(Take(line_).IsRefused()) << "at once";
  taken_.front()->GiveBack();
  EXPECT_TRUE(Take(line_).Has());
  Take(line_);
  clock_.AwaitWaiters(1);
  EXPECT_TRUE(line_.back()->Waits()) << "of the four, one began just now";
}

// Those who waited held all threads, and known readers stood behind them.
TEST_F(ReviewTurnsTest, BehindALongLineNobodyWaits) {
  TakeAll();
  Line(ReviewTurns::kInLine);
  EXPECT_EQ(turns_.Take({}), nullptr) << "at once: no time passes here";
  taken_.front()->GiveBack();
  ASSERT_TRUE(line_.front()->Has());
  --waiting_;
  Line(1);  // there is room for one
}

// A stop of the operator waited for whoever waits.
TEST_F(ReviewTurnsTest, AStopEndsTheWait) {
  TakeAll();
  Line(2);
  line_.front()->Stop();
  EXPECT_TRUE(line_.front()->IsRefused());
  taken_.front()->GiveBack();
  EXPECT_TRUE(line_.back()->Has()) << "who doesn't wait any more is in nobody's way";
}

// Turns were counted up and down by hand: an exception kept one for ever.
TEST_F(ReviewTurnsTest, ATurnEndsWithItsScopeHoweverThatIsLeft) {
  for (size_t i = 0; i <= ReviewTurns::kAtOnce; ++i) {
    auto review = [&] {
      const ReviewTurns::Turn turn = turns_.Take({});
      throw std::runtime_error(turn != nullptr ? "in a turn" : "without a turn");
    };
    EXPECT_THROW(review(), std::runtime_error);
  }
  ASSERT_TRUE(Take(taken_).Has());
}

}  // namespace
}  // namespace capi::ops
