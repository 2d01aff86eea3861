#include "cli/local_clusters/hooks/hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/files.h"
#include "base/strings.h"
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

// A terminal would stop it, or what it starts, without a word: whoever asks there is told at once that there is none.
TEST_F(HookTest, HasASessionOfItsOwn) {
  auto out = Run("cut -d' ' -f1,6 /proc/$$/stat");
  ASSERT_TRUE(out.ok()) << out.error().message;
  const std::vector<std::string> both = Split(Trim(*out), ' ');
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0], both[1]);
}

// A command in another process that runs a hook, and is sent signals.
class InterruptedHook : public HookTest {
 protected:
  void Start(const std::string& traps) {
    const std::string script = Script(traps + "sleep 1000 & echo $! >" + (folder_ / "child.new") + "; mv " +
                                      (folder_ / "child.new") + " " + (folder_ / "child") + "; wait");
    command_ = fork();
    if (command_ == 0) {
      // Whatever a shell in the background, or nohup, has this test ignore.
      for (int one : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) signal(one, SIG_DFL);
      // What is sent after `interrupt` would end this process in its own way.
      sigset_t all;
      sigfillset(&all);
      sigprocmask(SIG_BLOCK, &all, nullptr);
      {
        Interrupt interrupt;
        Context ctx;
        ctx.stop = interrupt.token();
        HookRun run{script, "", {}, [](std::string_view) {}};
        static_cast<void>(RunHook(ctx, run));
        // The second signal ends the hook before this process: its end is waited for here, not overtaken.
      }
      _exit(1);
    }
    ASSERT_TRUE(Await([&] { return ReadFile(folder_ / "child").ok(); }));
    child_ = std::stoi(ReadFile(folder_ / "child").value());
  }
  // Sends it until the command has ended; its exit code.
  int EndWith(int signal) {
    int status = 0;
    // A signal may come while the first one is still handled; each is one more.
    EXPECT_TRUE(Await([&] {
      kill(command_, signal);
      return waitpid(command_, &status, WNOHANG) == command_;
    }));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  pid_t command_ = 0, child_ = 0;
};

// The second Ctrl-C ends this process at once, and the hook with what it has started.
TEST_F(InterruptedHook, EndsWithTheSecondSignal) {
  for (int signal : {SIGINT, SIGTERM, SIGQUIT}) {
    SCOPED_TRACE(signal);
    unlink((folder_ / "child").c_str());
    Start("trap '' TERM INT; ");
    EXPECT_EQ(EndWith(signal), 130);
    EXPECT_TRUE(Await([&] { return IsGone(child_); }));
  }
}

// A closed terminal: in an orderly way, however often it is told.
TEST_F(InterruptedHook, EndsWithItsTerminal) {
  Start("");
  EXPECT_EQ(EndWith(SIGHUP), 1);
  EXPECT_TRUE(Await([&] { return IsGone(child_); }));
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
