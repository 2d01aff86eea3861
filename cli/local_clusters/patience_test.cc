#include "cli/local_clusters/patience.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace capi::cli::local_clusters {
namespace {

using testing::ElementsAre;

class Patience : public testing::Test {
 protected:
  Patience() { ctx_.clock = &clock_; }

  // Tries with these answers, nullopt being success, while the clock goes on by `step` with each wait.
  Result<int> Try(const std::vector<std::optional<Error>>& answers, Millis step = kAgain) {
    std::jthread time([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        clock_.Advance(step);
        std::this_thread::yield();
      }
    });
    size_t at = 0;
    auto say = [&](const Error& error) { said_.push_back(error.message); };
    return Patiently<int>(ctx_, say, [&](const Context& call) -> Result<int> {
      ++calls_;
      bounded_ = bounded_ && call.deadline && *call.deadline <= clock_.Monotonic() + kOneCall;
      const std::optional<Error>& answer = answers[std::min(at++, answers.size() - 1)];
      if (answer) return *answer;
      return 7;
    });
  }

  FakeClock clock_;
  Context ctx_;
  std::vector<std::string> said_;
  int calls_ = 0;
  bool bounded_ = true;
};

const Error kAway{Code::kUnavailable, "away", {}};
const Error kRefused{Code::kInternal, "the webhook refuses connections", {}};
const Error kHung{Code::kDeadlineExceeded, "deadline exceeded", {}};

// G11: an outage is waited out, also one that doesn't answer, and it is said once why.
TEST_F(Patience, WaitsAnOutageOut) {
  auto got = Try({kAway, kAway, kRefused, kHung, std::nullopt});
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(*got, 7);
  EXPECT_EQ(calls_, 5);
  EXPECT_THAT(said_, ElementsAre("away", "the webhook refuses connections", "deadline exceeded"));
  EXPECT_TRUE(bounded_) << "one request never has all of the time";
}

TEST_F(Patience, EndsAtOnceWithWhatNoWaitMends) {
  auto got = Try({kAway, Error{Code::kInvalidArgument, "spec: wrong", {}}});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().message, "spec: wrong");
  EXPECT_EQ(calls_, 2);
}

// The end of the time says what it was waited for.
TEST_F(Patience, EndsWithItsTime) {
  ctx_ = ctx_.WithTimeout(Seconds(60));
  auto got = Try({kRefused});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.code(), Code::kDeadlineExceeded);
  EXPECT_EQ(got.error().message, kRefused.message);
}

TEST_F(Patience, EndsWithAStop) {
  std::stop_source stop;
  ctx_.stop = stop.get_token();
  stop.request_stop();
  auto got = Try({kAway});
  EXPECT_EQ(calls_, 1);
  EXPECT_FALSE(got.ok());
}

}  // namespace
}  // namespace capi::cli::local_clusters
