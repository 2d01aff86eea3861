#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/json.h"

namespace capi {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class Log : public ::testing::Test {
 protected:
  Logger Make(LogLevel level, LogFormat format) {
    auto sink = [](void* lines, std::string_view line) {
      static_cast<std::vector<std::string>*>(lines)->emplace_back(line);
    };
    return Logger::ToSink(level, format, sink, &lines_);
  }
  std::vector<std::string> lines_;
};

TEST_F(Log, TextHasFieldsInOrder) {
  Logger log = Make(LogLevel::kInfo, LogFormat::kText).With({{"provider", "aws"}});
  log.Info("applied", {{"object", "a b"}, {"ms", 12}, {"dry", false}, {"empty", ""}});
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_THAT(lines_[0], EndsWith("Z info  applied provider=aws object=\"a b\" ms=12 dry=false empty=\"\""));
}

TEST_F(Log, TheLevelChangesForAllThatShareTheSink) {
  Logger log = Make(LogLevel::kInfo, LogFormat::kText), part = log.With({{"part", "a"}});
  part.Debug("one");
  log.SetLevel(LogLevel::kDebug);
  part.Debug("two");
  EXPECT_TRUE(part.WithoutFields().Enabled(LogLevel::kDebug));
  log.SetLevel(LogLevel::kInfo);
  part.Debug("three");
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_THAT(lines_[0], EndsWith("two part=a"));
  Logger().SetLevel(LogLevel::kDebug);
  EXPECT_FALSE(Logger().Enabled(LogLevel::kError));
}

TEST_F(Log, JsonKeepsTypes) {
  Logger log = Make(LogLevel::kDebug, LogFormat::kJson);
  log.Error(
      "quoted \"x\"",
      {{"n", 1}, {"yes", true}, {"half", 0.5}, {"nan", std::numeric_limits<double>::quiet_NaN()}, {"bad", "\xff\n"}});
  auto line = ParseJson(lines_.at(0));
  ASSERT_TRUE(line.ok()) << lines_[0];
  EXPECT_EQ((*line)["level"], "error");
  EXPECT_EQ((*line)["msg"], "quoted \"x\"");
  EXPECT_EQ((*line)["n"], 1);
  EXPECT_EQ((*line)["yes"], true);
  EXPECT_EQ((*line)["half"], 0.5);
  EXPECT_TRUE((*line)["nan"].is_string());
}

TEST_F(Log, NothingBreaksOutOfItsLine) {
  Make(LogLevel::kInfo, LogFormat::kText).Info("one\ntwo", {{"v", "three\nfour\x1b[31m"}});
  EXPECT_EQ(lines_.at(0).find_first_of("\n\x1b"), std::string::npos);
  EXPECT_THAT(lines_.at(0), HasSubstr(R"(one\ntwo)"));
}

TEST_F(Log, LevelsHold) {
  for (LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn, LogLevel::kError, LogLevel::kOff}) {
    lines_.clear();
    Logger log = Make(level, LogFormat::kText);
    log.Debug("d");
    log.Info("i");
    log.Warn("w");
    log.Error("e");
    EXPECT_EQ(lines_.size(), 4u - static_cast<size_t>(level));
    EXPECT_EQ(log.Enabled(LogLevel::kError), level != LogLevel::kOff);
  }
  Logger().Error("goes nowhere");
}

TEST_F(Log, GoesToStandardError) {
  ::testing::internal::CaptureStderr();
  Logger::Create(LogLevel::kInfo, LogFormat::kJson).Info("hello {} %s");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("\"msg\":\"hello {} %s\"}\n"));
}

}  // namespace
}  // namespace capi
