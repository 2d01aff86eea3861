#include "local/node/program_help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <optional>
#include <thread>

#include "base/files.h"
#include "base/testing/await.h"
#include "base/testing/temp_folder.h"

namespace capi::local {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class Help : public testing::Test {
 protected:
  void WriteProgram(const std::string& body, unsigned mode = 0755) {
    ASSERT_TRUE(WriteFile(path_, "#!/bin/sh\ncd " + folder_.path() + "\n" + body, mode).ok());
  }
  Result<Flags> Ask() {
    Context ctx;
    ctx.clock = &clock_;
    return help_.Of(ctx, path_, folder_.path(), {"PATH=/usr/bin:/bin"});
  }
  // A program that has said that it began, and hangs, is out of time.
  Result<Flags> AskWhileItHangs() {
    std::optional<Result<Flags>> answer;
    std::thread asks([&] { answer = Ask(); });
    for (Seconds limit : {Seconds(5), Seconds(20)}) {
      EXPECT_TRUE(Await([&] { return std::filesystem::remove(folder_ / "began"); }));
      clock_.Advance(limit);
    }
    asks.join();
    return *answer;
  }

  TempFolder folder_;
  const std::string path_ = folder_ / "program";
  FakeClock clock_;
  ProgramHelp help_;
};

TEST_F(Help, IsAskedOnce_G5) {
  WriteProgram("echo x >>asked; echo '  --webhook-port int   the port (default 9443)' >&2; exit 2\n");
  for (int i = 0; i < 2; ++i) EXPECT_THAT(Ask().value(), ElementsAre(Pair("webhook-port", "9443")));
  EXPECT_EQ(*ReadFile(folder_ / "asked"), "x\n");
}

// G5: a help that couldn't be had, or not whole, counts for nothing later.
TEST_F(Help, ThatFailsIsAskedAgain_G5) {
  WriteProgram("echo '  --webhook-port int   the port (default 9443)'\n", 0644);
  auto none = Ask();
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.code(), Code::kUnavailable);
  EXPECT_THAT(none.error().message, HasSubstr("--help can't be asked"));
  ASSERT_EQ(chmod(path_.c_str(), 0755), 0);
  EXPECT_EQ(Ask()->size(), 1u);
}

TEST_F(Help, ThatIsCutOffIsAskedAgain_G5) {
  WriteProgram(
      "echo '  --health-addr string   where (default \":9440\")'\ntest -f fast || { : >began; exec sleep 1000; }\n"
      "echo '  --webhook-port int   the port (default 9443)'\n");
  auto half = AskWhileItHangs();
  ASSERT_FALSE(half.ok());
  EXPECT_EQ(half.code(), Code::kUnavailable);
  EXPECT_THAT(half.error().message, HasSubstr("was cut off after 20 s"));
  ASSERT_TRUE(WriteFile(folder_ / "fast", "").ok());
  EXPECT_EQ(Ask()->size(), 2u);
}

TEST_F(Help, OfWhatRunsOnIsNone_G5) {
  WriteProgram("test -f fast || { : >began; exec sleep 1000; }\necho '  --webhook-port int   the port'\n");
  EXPECT_THAT(AskWhileItHangs().value(), IsEmpty());
  ASSERT_TRUE(WriteFile(folder_ / "fast", "").ok());
  EXPECT_THAT(Ask().value(), IsEmpty()) << "it isn't asked at each start";
  clock_.Advance(Seconds(60));
  EXPECT_THAT(Ask().value(), ElementsAre(Pair("webhook-port", ""))) << "the machine may have been busy";
}

}  // namespace
}  // namespace capi::local
