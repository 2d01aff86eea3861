#include "cli/local/start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "base/testing/value_or_abort.h"
#include "cli/local/lock_holder_testing.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
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

// The supervisor that a test has started: a child that ends as it is told, by a byte, and takes the lock before where
// it is told to.
class AwaitPlaneTest : public StartTest {
 protected:
  ~AwaitPlaneTest() override {
    if (child_ > 0) kill(child_, SIGKILL);
    close(end_[1]);
  }
  void Start(bool takes_lock, int code) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    ASSERT_EQ(pipe(end_), 0);
    child_ = fork();
    char byte = 'y';
    if (child_ == 0) {
      close(end_[1]);
      std::optional<local::PlaneLock> lock;
      if (takes_lock) lock = *local::PlaneLock::TryTake(plane_.Lock(), Who::kSupervisor);
      [[maybe_unused]] ssize_t n = write(ready[1], &byte, 1);
      n = read(end_[0], &byte, 1);
      _exit(code);
    }
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    for (int fd : {ready[0], ready[1], end_[0]}) close(fd);
  }
  void End() { ASSERT_EQ(write(end_[1], "x", 1), 1); }
  Result<local::PlaneState> Await(Millis patience = Millis(0)) {
    LiveLines lines(out_, 0);
    return AwaitPlane(Context{}.WithTimeout(Seconds(20)), plane_, child_, lines, patience);
  }
  void WriteReady(pid_t supervisor) {
    local::PlaneState state{.supervisor = supervisor, .started = {}, .ready = true, .port = 1, .message = ""};
    ASSERT_TRUE(local::WriteState(plane_.State(), state).ok());
  }

  std::ostringstream out_;
  pid_t child_ = 0;
  int end_[2] = {-1, -1};
};

// G2: a `down`, or an `up` with other settings, that comes in the first seconds: it was asked to end, and can be begun
// again.
TEST_F(AwaitPlaneTest, OneThatWasAskedToEndHasEndedMeanwhile) {
  ASSERT_NO_FATAL_FAILURE(Start(true, 0));
  End();
  const auto ended = Await();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.code(), Code::kUnavailable) << ended.error().message;
  EXPECT_THAT(ended.error().message, HasSubstr("has ended meanwhile"));
}

TEST_F(AwaitPlaneTest, OneThatFailedTellsItsLog) {
  ASSERT_TRUE(plane_.MakeFolders().ok());
  temp_.Put("plane/logs/supervisor.log", "no port is free\n");
  ASSERT_NO_FATAL_FAILURE(Start(true, 1));
  End();
  const auto failed = Await();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.code(), Code::kInternal);
  EXPECT_THAT(failed.error().message, HasSubstr("no port is free"));
}

// G2: of two at once both go on with the one that was faster.
TEST_F(AwaitPlaneTest, TheOneThatWasFasterDoesAsWell) {
  Hold(Who::kSupervisor);
  WriteReady(*ValueOrAbort(local::SupervisorOf(plane_.Lock()), "supervisor"));
  ASSERT_NO_FATAL_FAILURE(Start(false, 1));
  End();
  const auto ready = Await();
  ASSERT_TRUE(ready.ok()) << ready.error().message;
  EXPECT_TRUE(ready->ready);
}

TEST_F(AwaitPlaneTest, OneThatWasDeletedBeforeItHadTheLockCanBeMadeAgain) {
  ASSERT_TRUE(plane_.Remove().ok());
  ASSERT_NO_FATAL_FAILURE(Start(false, 1));
  End();
  EXPECT_EQ(Await().code(), Code::kUnavailable);
}

// G2: one that another `up` starts anew is away for a moment.
TEST_F(AwaitPlaneTest, OneThatIsAwayForAMomentIsWaitedFor) {
  EXPECT_EQ(Await().code(), Code::kUnavailable) << "nobody runs it";
  std::jthread later([this] {
    Hold(Who::kSupervisor);
    WriteReady(*ValueOrAbort(local::SupervisorOf(plane_.Lock()), "supervisor"));
  });
  const auto back = Await(Seconds(20));
  EXPECT_TRUE(back.ok()) << back.error().message;
}

// G2: what an `up` with the same settings starts anew, and why.
TEST_F(StartTest, WhatIsOutdatedSaysByWhat) {
  Hold(Who::kSupervisor);  // this program, with this environment
  const pid_t supervisor = *ValueOrAbort(local::SupervisorOf(plane_.Lock()), "supervisor");
  local::Settings settings;
  EXPECT_EQ(WhyOutdated(supervisor, settings, getenv_), "");
  settings.environment = {"KEY"};
  EXPECT_EQ(WhyOutdated(supervisor, settings, getenv_), "") << "it says nothing here";
  EXPECT_EQ(WhyOutdated(supervisor, settings, From({{"KEY", "other"}})), "another value of KEY");
  EXPECT_THAT(WhyOutdated(1 << 30, settings, getenv_), HasSubstr("in the place of another program"));
}

// What `local up` refuses, or goes on with, before it starts anything.
class UpTest : public StartTest {
 protected:
  void SetUp() override {
    StartTest::SetUp();
    temp_.Put("plane/pki/kubeconfig", "{}");
  }
  void Store(const std::string& settings) { temp_.Put("plane/settings.json", settings); }
  Outcome Up(std::vector<std::string> arguments, const std::string& assets) {
    arguments.insert(arguments.begin(), {"local", "up", "--dir", plane_.path(), "--timeout", "1"});
    return Clusterctl(
        std::move(arguments),
        {{"HOME", temp_.path()}, {"KUBEBUILDER_ASSETS", assets}, {"CLUSTERCTL_DISABLE_VERSIONCHECK", "true"}});
  }
};

// G1: a folder that is only made to be refused would look like a plane's.
TEST_F(UpTest, OneThatCannotStartLeavesNoFolder) {
  ASSERT_TRUE(plane_.Remove().ok());
  std::filesystem::remove_all(plane_.path());
  for (const char* where : {"none", ""}) {
    const Outcome got = Up({}, where[0] == '\0' ? "" : temp_ / where);
    EXPECT_EQ(got.code, 1);
    EXPECT_THAT(got.err, HasSubstr("not found"));
    EXPECT_FALSE(std::filesystem::exists(plane_.path())) << where;
  }
}

// G2: where the plane runs nothing is started, so nobody looks for programs.
TEST_F(UpTest, OneThatRunsNeedsNoPrograms) {
  Hold(Who::kSupervisor);
  Store(R"({"programs":"/none","binaries":["x=/gone"],"builds":[],"environment":[]})");
  const Outcome got = Up({}, "relative");
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, AllOf(HasSubstr("The plane runs already"), HasSubstr("the plane isn't ready"),
                             Not(HasSubstr("not found")), Not(HasSubstr("/gone"))));
}

// G1, G8: one that another clusterctl runs, or whose file somebody has removed, gets what all commands go by.
TEST_F(UpTest, OneWithoutAKubeconfigOfItsOwnIsStartedAnew) {
  Hold(Who::kSupervisor);
  std::filesystem::remove(plane_.OwnKubeconfig());
  EXPECT_THAT(Up({}, "").err, HasSubstr("The plane runs already")) << "it has yet to write it";
  local::PlaneState state{.supervisor = *ValueOrAbort(local::SupervisorOf(plane_.Lock()), "supervisor"),
                          .started = {},
                          .ready = true,
                          .port = 1,
                          .message = ""};
  state.processes.emplace_back();
  ASSERT_TRUE(local::WriteState(plane_.State(), state).ok());
  for (const char* name : {"etcd", "kube-apiserver", "capi-operator"})
    std::filesystem::permissions(temp_.Put(name, "#!/bin/sh\n"), std::filesystem::perms::owner_all);
  Store(R"({"programs":"","binaries":["capi-operator=)" + (temp_ / "capi-operator") +
        R"("],"builds":[],"environment":["NONE"]})");
  EXPECT_THAT(Up({}, temp_.path()).err, AllOf(HasSubstr("NONE isn't set"), Not(HasSubstr("runs already"))));
  EXPECT_TRUE(*local::SupervisorOf(plane_.Lock())) << "nothing is ended before all is checked";
}

// G2, G9: of what is named, this run's alone is refused; the rest can be taken back.
TEST_F(UpTest, WhatAnEarlierRunHasNamedAndIsGoneIsTold) {
  for (const char* name : {"etcd", "kube-apiserver"})
    std::filesystem::permissions(temp_.Put(name, "#!/bin/sh\n"), std::filesystem::perms::owner_all);
  // The variable that isn't set ends each of them before anything is started.
  Store(R"({"programs":"","binaries":["x:v1=/gone","capi-operator=)" + (temp_ / "etcd") +
        R"("],"builds":[],"environment":["NONE"]})");
  const Outcome told = Up({}, temp_.path());
  EXPECT_EQ(told.code, 1);
  EXPECT_THAT(told.err, AllOf(HasSubstr("/gone: No such file"), HasSubstr("`--binary x:v1=` takes it back"),
                              HasSubstr(plane_.Settings()), HasSubstr("NONE isn't set")));
  EXPECT_THAT(Up({"--binary", "docker.io/library/x:v1="}, temp_.path()).err,
              AllOf(Not(HasSubstr("/gone")), HasSubstr("NONE isn't set")));
  EXPECT_THAT(Up({"--binary", "y=/gone"}, temp_.path()).err,
              AllOf(HasSubstr("/gone: No such file"), Not(HasSubstr("NONE isn't set"))));
  EXPECT_THAT(Up({"--binary", "y=" + (temp_ / "etcd"), "--binary", "docker.io/library/y=" + (temp_ / "etcd")}, "").err,
              HasSubstr("this image is named twice"));
}

TEST_F(UpTest, AnOperatorThatIsGoneIsRefusedBeforeAnythingIsEnded) {
  for (const char* name : {"etcd", "kube-apiserver"})
    std::filesystem::permissions(temp_.Put(name, "#!/bin/sh\n"), std::filesystem::perms::owner_all);
  Hold(Who::kSupervisor);
  Store(R"({"programs":"","binaries":["capi-operator=/gone"],"builds":[],"environment":[]})");
  // A further setting: what runs would be started anew.
  const Outcome got = Up({"--binary", "y=" + (temp_ / "etcd")}, temp_.path());
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, AllOf(HasSubstr("/gone: No such file"), HasSubstr("--binary capi-operator=` takes it back"),
                             Not(HasSubstr("anew"))));
  EXPECT_TRUE(*local::SupervisorOf(plane_.Lock()));
}

// G2.
TEST_F(UpTest, OneOfANewerClusterctlIsNotEnded) {
  Hold(Who::kSupervisor);
  temp_.Put("plane/version", "v99.1.0\n");
  const Outcome other = Up({"--programs", temp_.path()}, "relative");
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, AllOf(HasSubstr("v99.1.0, newer than this"), Not(HasSubstr("not found"))));
  EXPECT_TRUE(*local::SupervisorOf(plane_.Lock()));
}

// G2: the same folder is no other setting, however it is spelled.
TEST_F(UpTest, ProgramsOfTheSameFolderAreTheSame) {
  Hold(Who::kSupervisor);
  Store(R"({"programs":")" + (temp_ / "bin") + R"(","binaries":[],"builds":[],"environment":[]})");
  for (const char* spelled : {"bin", "./bin", "bin/", "x/../bin//"})
    EXPECT_THAT(Up({"--programs", temp_ / spelled}, "").err, HasSubstr("The plane runs already")) << spelled;
}

// G8: another command may have gone on with it, and made the plane that runs.
TEST_F(UpTest, NothingThatRunsIsDeleted) {
  temp_.Put("plane/etcd.gone/wal", "x");
  Hold(Who::kSupervisor);
  const Outcome got = Up({}, "relative");
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, AllOf(HasSubstr("runs by now"), Not(HasSubstr("Deleting"))));
  EXPECT_TRUE(*local::SupervisorOf(plane_.Lock()));
  EXPECT_TRUE(plane_.CheckIsThere().ok());
}

// G8: what `down --delete` has begun is ended before another plane is made.
TEST_F(UpTest, OneThatIsHalfDeletedIsDeletedFirst) {
  temp_.Put("plane/etcd.gone/wal", "x");
  temp_.Put("plane/version", "v99.1.0\n");
  const Outcome got = Up({}, "relative");
  EXPECT_THAT(got.err,
              AllOf(HasSubstr("an interrupted `down --delete` has left"), HasSubstr("write it as an absolute")));
  EXPECT_FALSE(plane_.CheckIsThere().ok());
  EXPECT_FALSE(std::filesystem::exists(plane_.path())) << "nor is another made that can't start";
}

}  // namespace
}  // namespace capi::cli
