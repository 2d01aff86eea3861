#include "cli/local/start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>
#include <utility>

#include "base/testing/value_or_abort.h"
#include "cli/local/lock_holder_testing.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using Who = local::PlaneLock::Who;

class StartTest : public testing::Test {
 protected:
  void Hold(Who who) { holder_.Hold(plane_.Lock(), who); }

  TestFolder temp_;
  local::PlaneFolder plane_ = ValueOrAbort(local::PlaneFolder::Make(temp_ / "plane"), "plane");
  Getenv getenv_ = From({});
  LockHolder holder_;
};

// G8: two `down --delete` at once.
TEST_F(StartTest, APlaneThatSomebodyElseHasDeletedIsTold) {
  for (bool with_others : {true, false}) {
    plane_ = ValueOrAbort(local::PlaneFolder::Make(temp_ / (with_others ? "kept" : "gone")), "plane");
    if (with_others) temp_.Put("kept/notes.txt", "mine");
    ASSERT_TRUE(plane_.Remove().ok());
    const auto stopped = StopPlane(Context{}, plane_, getenv_);
    ASSERT_FALSE(stopped.ok());
    EXPECT_EQ(stopped.code(), Code::kUnavailable);
    EXPECT_THAT(stopped.error().message, HasSubstr("was deleted meanwhile"));
    EXPECT_EQ(LockPlane(Context{}, plane_).code(), Code::kUnavailable);
    EXPECT_FALSE(std::filesystem::exists(plane_.Lock()));
  }
}

TEST_F(StartTest, AnotherPlaneInItsPlaceIsNotTakenForIt) {
  ASSERT_TRUE(plane_.Remove().ok());
  const auto another = local::PlaneFolder::Make(plane_.path());
  ASSERT_TRUE(another.ok());
  EXPECT_EQ(StopPlane(Context{}, plane_, getenv_).code(), Code::kUnavailable);
  EXPECT_TRUE(another->CheckIsThere().ok());
  EXPECT_TRUE(LockPlane(Context{}, *another).ok());
}

// G2: nothing is written into the folder of a plane that somebody runs, ends or removes.
TEST_F(StartTest, OneThatRunsIsNotLocked) {
  Hold(Who::kSupervisor);
  const auto refused = LockPlane(Context{}, plane_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.code(), Code::kUnavailable);
}

TEST_F(StartTest, WhoEndsThePlaneIsWaitedFor) {
  Hold(Who::kOther);
  const auto late = LockPlane(Context{}.WithTimeout(Millis(50)), plane_);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.code(), Code::kDeadlineExceeded);
  holder_.End(SIGTERM);
  EXPECT_TRUE(LockPlane(Context{}, plane_).ok());
}

// G8: the one who has stopped it keeps the lock, so nobody starts it before its files are removed.
TEST_F(StartTest, AStoppedPlaneStaysLocked) {
  Hold(Who::kSupervisor);
  auto stopped = StopPlane(Context{}, plane_, getenv_);
  ASSERT_TRUE(stopped.ok()) << stopped.error().message;
  EXPECT_TRUE(stopped->ran);
  int status = holder_.AwaitEnd();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  const pid_t other = fork();
  if (other == 0) {
    auto lock = local::PlaneLock::TryTake(plane_.Lock());
    _exit(lock.ok() && !*lock ? 0 : 1);
  }
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace capi::cli
