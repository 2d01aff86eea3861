#include "cli/local/plane_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "base/testing/await.h"
#include "base/testing/value_or_abort.h"
#include "cli/local/lock_holder_testing.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;

const Error kStopped{Code::kCancelled, "stopped", {}};

class PlaneWatchTest : public testing::Test {
 protected:
  // A supervisor, as far as the lock tells.
  void Supervise() { supervisor_.Hold(plane_.Lock(), local::PlaneLock::Who::kSupervisor); }
  static Context WithClock(Clock& clock) {
    Context out;
    out.clock = &clock;
    return out;
  }

  TestFolder temp_;
  local::PlaneFolder plane_ = ValueOrAbort(local::PlaneFolder::Make(temp_ / "plane"), "plane");
  FakeClock clock_;
  Context ctx_ = WithClock(clock_);
  LockHolder supervisor_;
};

// G2: `down` beside an `up` that waits for providers. Another `up`, which starts the supervisor anew, has the time for
// it.
TEST_F(PlaneWatchTest, StopsWhatWaitsForAPlaneThatHasEnded) {
  Supervise();
  PlaneWatch watch(ctx_, plane_, Seconds(3));
  const std::stop_token stop = watch.context().stop;
  clock_.AwaitWaiters(1);
  EXPECT_FALSE(stop.stop_requested()) << "it runs";
  supervisor_.End(SIGKILL);
  clock_.Advance(Seconds(2));
  EXPECT_FALSE(stop.stop_requested());
  EXPECT_TRUE(Await([&] {
    clock_.Advance(Millis(200));
    return stop.stop_requested();
  }));
  const Status told = watch.Explain(kStopped);
  ASSERT_FALSE(told.ok());
  EXPECT_EQ(told.code(), Code::kUnavailable);
  EXPECT_THAT(told.error().message, HasSubstr("has ended meanwhile"));
}

// What doesn't wait for an outage fails before the patience is over.
TEST_F(PlaneWatchTest, ExplainsAnOutageOfAPlaneThatHasEnded) {
  const Error refused{Code::kUnavailable, "connection refused", {}};
  for (bool runs : {true, false}) {
    if (runs) Supervise();
    PlaneWatch watch(ctx_, plane_);
    const Status told = watch.Explain(refused);
    ASSERT_FALSE(told.ok());
    EXPECT_EQ(told.error().message == "connection refused", runs) << told.error().message;
    supervisor_.End(SIGKILL);
  }
  PlaneWatch watch(ctx_, plane_);
  EXPECT_EQ(watch.Explain(Error{Code::kInvalidArgument, "bad", {}}).code(), Code::kInvalidArgument);
}

TEST_F(PlaneWatchTest, PassesOnTheStopOfItsOwner) {
  std::stop_source stop;
  const Context ctx = ctx_.WithStop(stop.get_token());
  PlaneWatch watch(ctx, plane_, Seconds(1000));
  stop.request_stop();
  EXPECT_TRUE(watch.context().stop.stop_requested());
  EXPECT_EQ(watch.Explain(kStopped).code(), Code::kCancelled);
  EXPECT_FALSE(ctx.Check().ok());
}

}  // namespace
}  // namespace capi::cli
