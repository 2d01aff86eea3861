#include "local/plane/kept_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/testing/await.h"
#include "base/testing/temp_folder.h"

namespace capi::local {
namespace {

using ::testing::HasSubstr;

class Kept : public ::testing::Test {
 protected:
  KeptProcess& Make(const std::string& script, std::function<bool()> is_ready = nullptr) {
    KeptProcessOptions options;
    options.name = "it";
    options.command.argv = {"/bin/sh", "-c", script};
    options.command.log_file = folder_ / "log";
    options.is_ready = std::move(is_ready);
    kept_ = std::make_unique<KeptProcess>(std::move(options), clock_);
    return *kept_;
  }
  // Until its end was seen.
  bool AwaitEnd(int restarts) {
    return Await([&] { return kept_->Look(), kept_->state().restarts >= restarts; });
  }
  TempFolder folder_;
  FakeClock clock_;
  std::unique_ptr<KeptProcess> kept_;
};

TEST_F(Kept, RunsAndSaysSo) {
  KeptProcess& kept = Make("exec tail -f /dev/null");
  kept.Look();
  EXPECT_GT(kept.state().pid, 0);
  EXPECT_TRUE(kept.state().ready);
  EXPECT_EQ(kept.state().restarts, 0);
  kept.Stop();
  EXPECT_EQ(kept.state().pid, 0);
  EXPECT_FALSE(kept.state().ready);
}

// Rule G3: whatever ends one, it is started again: at once, and then ever later.
TEST_F(Kept, IsStartedAgainWithPauses) {
  KeptProcess& kept = Make("echo no luck >&2; exit 3");
  ASSERT_TRUE(AwaitEnd(1));  // and it was started again in the same look
  EXPECT_THAT(kept.state().message, HasSubstr("exit code 3: no luck"));
  ASSERT_TRUE(AwaitEnd(2));
  EXPECT_EQ(kept.state().pid, 0);  // it waits now
  for (Millis pause : {Millis(200), Millis(400), Millis(800), Millis(1600), Millis(3200), Millis(5000), Millis(5000)}) {
    const int restarts = kept.state().restarts;
    clock_.Advance(pause - Millis(1));
    kept.Look();
    EXPECT_EQ(kept.state().pid, 0) << pause.count();
    clock_.Advance(Millis(1));
    kept.Look();
    EXPECT_TRUE(AwaitEnd(restarts + 1)) << pause.count();
  }
}

TEST_F(Kept, OneThatRanForLongBeginsAnewWithThePauses) {
  const std::string end = folder_ / "end";
  ASSERT_EQ(mkfifo(end.c_str(), 0600), 0);
  const int pipe = open(end.c_str(), O_RDWR | O_CLOEXEC);
  KeptProcess& kept = Make("read -r line <'" + end + "'");
  for (int i = 1; i < 4; ++i) {
    kept.Look();
    ASSERT_GT(kept.state().pid, 0);
    clock_.Advance(Seconds(10));
    ASSERT_EQ(write(pipe, "\n", 1), 1);
    ASSERT_TRUE(AwaitEnd(i));
    EXPECT_GT(kept.state().pid, 0) << "it waits though it ran for ten seconds";
  }
  close(pipe);
}

// Rule G8: one that ends again and again isn't ready in between.
TEST_F(Kept, OneThatHasEndedIsReadyOnceItLasts) {
  const std::string first = folder_ / "first";
  KeptProcess& kept = Make("[ -e '" + first + "' ] && exec tail -f /dev/null; touch '" + first + "'; exit 1");
  ASSERT_TRUE(AwaitEnd(1));
  ASSERT_GT(kept.state().pid, 0);
  EXPECT_FALSE(kept.state().ready);
  clock_.Advance(Millis(1999));
  kept.Look();
  EXPECT_FALSE(kept.state().ready);
  clock_.Advance(Millis(1));
  kept.Look();
  EXPECT_TRUE(kept.state().ready);
}

TEST_F(Kept, IsReadyWhenItSaysSo) {
  bool ready = false;
  int asked = 0;
  KeptProcess& kept = Make("exec tail -f /dev/null", [&] { return ++asked, ready; });
  kept.Look();
  EXPECT_FALSE(kept.state().ready);
  ready = true;
  kept.Look();
  EXPECT_TRUE(kept.state().ready);
  EXPECT_EQ(asked, 2);
  ready = false;
  kept.Look();  // one that was ready isn't asked all the time
  EXPECT_EQ(asked, 2);
  clock_.Advance(Seconds(5));
  kept.Look();
  EXPECT_FALSE(kept.state().ready);
}

TEST_F(Kept, AProgramThatIsNotThereIsTold) {
  const std::string program = folder_ / "program";
  KeptProcessOptions options;
  options.name = "it";
  options.command.argv = {program};
  KeptProcess kept(std::move(options), clock_);
  kept.Look();
  EXPECT_THAT(kept.state().message, HasSubstr(program));
  EXPECT_EQ(kept.state().pid, 0);
  // Looked for again with pauses, as one that ends is.
  clock_.Advance(Millis(200));
  kept.Look();
  ASSERT_TRUE(WriteFile(program, "#!/bin/sh\nexec tail -f /dev/null\n", 0755).ok());
  clock_.Advance(Millis(399));
  kept.Look();
  EXPECT_EQ(kept.state().pid, 0);
  clock_.Advance(Millis(1));
  kept.Look();
  EXPECT_GT(kept.state().pid, 0);
}

}  // namespace
}  // namespace capi::local
