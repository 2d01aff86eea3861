#include "local/node/command/program_help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/testing/await.h"
#include "base/testing/temp_folder.h"
#include "base/testing/value_or_abort.h"

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

// G5: of a program that prints its flags and runs on they count; it may have been slow, and is asked again.
TEST_F(Help, ThatIsCutOffCountsForAWhile_G5) {
  WriteProgram(
      "echo '  --health-addr string   where (default \":9440\")'\ntest -f fast || { : >began; exec tail -f /dev/null; "
      "}\n"
      "echo '  --webhook-port int   the port (default 9443)'\n");
  auto half = AskWhileItHangs();
  ASSERT_TRUE(half.ok()) << half.error().message;
  EXPECT_THAT(*half, ElementsAre(Pair("health-addr", ":9440")));
  ASSERT_TRUE(WriteFile(folder_ / "fast", "").ok());
  EXPECT_EQ(Ask()->size(), 1u);
  clock_.Advance(Seconds(60));
  EXPECT_EQ(Ask()->size(), 2u);
}

// G5: who says more than a help does comes to its end.
TEST_F(Help, ThatIsLongEnds_G5) {
  WriteProgram("echo '  --webhook-port int   the port'\nhead -c 3000000 /dev/zero | tr '\\0' x\n");
  EXPECT_THAT(Ask().value(), ElementsAre(Pair("webhook-port", "")));
}

// G5: two that start at once ask once.
TEST_F(Help, IsAskedOnceByMany_G5) {
  WriteProgram("echo x >>asked; echo '  --webhook-port int   the port'\n");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { EXPECT_EQ(Ask()->size(), 1u); });
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(*ReadFile(folder_ / "asked"), "x\n");
}

// G5: the next node of this machine doesn't ask a program that hasn't changed.
class KeptHelp : public testing::Test {
 protected:
  KeptHelp() { std::filesystem::copy_file("/bin/ls", path_); }
  Result<Flags> Ask() {
    ProgramHelp next(cache_);
    return next.Of({}, path_, folder_.path(), environment_);
  }
  std::string File() const { return cache_ + "/" + ListDir(cache_)->front(); }

  std::vector<std::string> environment_ = {"PATH=/usr/bin:/bin", "CAPI_LOCAL_PLANE=0123456789abcdef"};
  TempFolder folder_;
  const std::string path_ = folder_ / "program", cache_ = folder_ / "cache/help";
};

TEST_F(KeptHelp, CountsAsLongAsItsProgramIsTheSame_G5) {
  const Flags own = Ask().value();
  ASSERT_THAT(own, testing::Not(IsEmpty()));
  ASSERT_THAT(ListDir(cache_).value(), testing::SizeIs(1));
  Json json = ValueOrAbort(ParseJson(*ReadFile(File())), "what is kept");
  json["flags"] = {{"port", "1"}};
  const std::string kept = ToJsonText(json);
  ASSERT_TRUE(WriteFile(File(), kept).ok());
  EXPECT_THAT(Ask().value(), ElementsAre(Pair("port", "1")));
  // Half of it, or something else, is as good as nothing.
  for (const std::string& broken : {kept.substr(0, kept.size() / 2), std::string("[]"), std::string()}) {
    ASSERT_TRUE(WriteFile(File(), broken).ok());
    EXPECT_EQ(Ask().value(), own) << broken;
  }
  ASSERT_TRUE(WriteFile(File(), kept).ok());
  std::filesystem::last_write_time(path_, std::filesystem::file_time_type::clock::now() + Seconds(5));
  EXPECT_EQ(Ask().value(), own) << "another program";
  EXPECT_THAT(ListDir(cache_).value(), testing::SizeIs(1));
}

// G3: a program may print the value of a variable as a flag's default.
TEST_F(KeptHelp, IsNoneWhereAVariableIsNamed_G5) {
  environment_.emplace_back("X_TOKEN=hunter2");
  EXPECT_THAT(Ask().value(), testing::Not(IsEmpty()));
  EXPECT_FALSE(std::filesystem::exists(cache_));
}

TEST_F(KeptHelp, IsNoneOfAScript_G5) {
  ASSERT_TRUE(WriteFile(path_, "#!/bin/sh\necho '  --port int   p'\n", 0755).ok());
  EXPECT_EQ(Ask()->size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(cache_));
}

TEST_F(Help, OfWhatRunsOnIsNone_G5) {
  WriteProgram("test -f fast || { : >began; exec tail -f /dev/null; }\necho '  --webhook-port int   the port'\n");
  EXPECT_THAT(AskWhileItHangs().value(), IsEmpty());
  ASSERT_TRUE(WriteFile(folder_ / "fast", "").ok());
  EXPECT_THAT(Ask().value(), IsEmpty()) << "it isn't asked at each start";
  clock_.Advance(Seconds(60));
  EXPECT_THAT(Ask().value(), ElementsAre(Pair("webhook-port", ""))) << "the machine may have been busy";
}

}  // namespace
}  // namespace capi::local
