#include "cli/local_clusters/hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/files.h"
#include "base/testing/await.h"
#include "cli/frame/interrupt.h"
#include "cli/testing.h"

namespace capi::cli::local_clusters {
namespace {

using testing::HasSubstr;
using testing::Not;

// One that has ended and that nobody has asked for yet is gone, too.
bool IsGone(pid_t pid) {
  auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  return !stat.ok() || stat->find(") Z ") != std::string::npos;
}

class HookTest : public testing::Test {
 protected:
  std::string Script(const std::string& text) {
    std::string path = folder_.Put("hook", "#!/bin/sh\n" + text + "\n");
    chmod(path.c_str(), 0700);
    return path;
  }
  Result<std::string> Run(const std::string& text, const std::string& input = "", Millis timeout = Seconds(30)) {
    HookRun run{Script(text), input, environment_, [this](std::string_view words) { words_ += words; }};
    Context ctx;
    ctx.stop = stop_.get_token();
    return RunHook(ctx.WithTimeout(timeout), run);
  }

  TestFolder folder_;
  std::vector<std::string> environment_;
  std::string words_;
  std::stop_source stop_;
};

// G11.
TEST_F(HookTest, GetsObjectsAndPrints) {
  environment_ = {"CLUSTERCTL_STAGE=ignition"};
  auto out = Run("echo words >&2; echo $CLUSTERCTL_STAGE; cat", "objects\n");
  ASSERT_TRUE(out.ok()) << out.error().message;
  EXPECT_EQ(*out, "ignition\nobjects\n");
  EXPECT_EQ(words_, "words\n");
}

// More than a pipe holds, in both directions at once.
TEST_F(HookTest, LargeObjectsPassBothWays) {
  const std::string input(3u << 20, 'x');
  auto out = Run("cat", input);
  ASSERT_TRUE(out.ok()) << out.error().message;
  EXPECT_EQ(out->size(), input.size());
}

TEST_F(HookTest, ThatReadsNothingMayEnd) {
  auto out = Run("exit 0", std::string(1u << 20, 'x'));
  EXPECT_TRUE(out.ok());
}

TEST_F(HookTest, ThatFailsSaysItsExitCodeAndNothingOfObjects) {
  auto out = Run("cat; exit 3", "hidden");
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.code(), Code::kFailedPrecondition);
  EXPECT_THAT(out.error().message, HasSubstr("exit code 3"));
  EXPECT_THAT(out.error().message, Not(HasSubstr("hidden")));
}

TEST_F(HookTest, ThatCannotBeRunIsNamed) {
  HookRun run{folder_ / "none", "", {}, [](std::string_view) {}};
  auto out = RunHook(Context{}, run);
  ASSERT_FALSE(out.ok());
  EXPECT_THAT(out.error().message, HasSubstr("can't be run"));
}

// Its time is over: it is ended with what it has started.
TEST_F(HookTest, EndsWithItsTimeAndItsChildren) {
  auto out = Run("sleep 1000 & echo $! >" + (folder_ / "child") + "; wait", "", Millis(300));
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.code(), Code::kDeadlineExceeded);
  const pid_t child = std::stoi(ReadFile(folder_ / "child").value());
  EXPECT_TRUE(Await([&] { return IsGone(child); }));
}

// What it left in the background ends with it.
TEST_F(HookTest, LeavesNothingBehind) {
  auto out = Run("sleep 1000 & echo $!; exit 0");
  ASSERT_TRUE(out.ok()) << out.error().message;
  const pid_t child = std::stoi(*out);
  EXPECT_TRUE(Await([&] { return IsGone(child); }));
}

// Neither its time nor its end waits for one that never stops to write.
TEST_F(HookTest, ThatWritesWithoutEndIsEnded) {
  environment_ = {};
  HookRun run{Script("trap '' TERM; while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done >&2"),
              "",
              {},
              [](std::string_view) {}};
  const MonoTime begun = SystemClock().Monotonic();
  auto out = RunHook(Context{}.WithTimeout(Millis(300)), run);
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.code(), Code::kDeadlineExceeded);
  EXPECT_LT(SystemClock().Monotonic() - begun, Seconds(30));
}

// The second Ctrl-C ends this process at once, and the hook with what it has started.
TEST_F(HookTest, EndsWithTheSecondCtrlC) {
  const std::string script = Script("trap '' TERM INT; sleep 1000 & echo $! >" + (folder_ / "child.new") + "; mv " +
                                    (folder_ / "child.new") + " " + (folder_ / "child") + "; wait");
  const pid_t command = fork();
  if (command == 0) {
    {
      Interrupt interrupt;
      Context ctx;
      ctx.stop = interrupt.token();
      HookRun run{script, "", {}, [](std::string_view) {}};
      static_cast<void>(RunHook(ctx, run));
    }
    _exit(1);
  }
  ASSERT_TRUE(Await([&] { return ReadFile(folder_ / "child").ok(); }));
  int status = 0;
  // A signal may come while the first one is still handled; each is one more Ctrl-C.
  EXPECT_TRUE(Await([&] {
    kill(command, SIGINT);
    return waitpid(command, &status, WNOHANG) == command;
  }));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130);
  const pid_t child = std::stoi(ReadFile(folder_ / "child").value());
  EXPECT_TRUE(Await([&] { return IsGone(child); }));
}

TEST_F(HookTest, EndsWithCtrlC) {
  std::thread stopper([this] {
    EXPECT_TRUE(Await([&] { return ReadFile(folder_ / "began").ok(); }));
    stop_.request_stop();
  });
  auto out = Run("touch " + (folder_ / "began") + "; exec sleep 1000");
  stopper.join();
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.code(), Code::kCancelled);
}

}  // namespace
}  // namespace capi::cli::local_clusters
