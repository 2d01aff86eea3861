#include <gtest/gtest.h>

#include "api/types.h"

namespace capi::api {
namespace {

TEST(ParseDuration, ReadsGosForm) {
  const std::pair<std::string_view, std::int64_t> cases[] = {
      {"0", 0},
      {"0s", 0},
      {"1h0m0s", 3'600'000},
      {"1h0m5s", 3'605'000},
      {"300ms", 300},
      {"1.5h", 5'400'000},
      {"-1.5h", -5'400'000},
      {"+5s", 5'000},
      {".5s", 500},
      {"1.s", 1'000},
      {"10m", 600'000},
      {"1us", 0},
      {"1500us", 1},
      {"2000\xC2\xB5s", 2},
      {"2000\xCE\xBCs", 2},
      {"999999ns", 0},
      {"1000000ns", 1},
      {"1m1m", 120'000},
      {"2562047h47m16.854s", 9'223'372'036'854},
  };
  for (const auto& [text, millis] : cases) {
    auto duration = ParseDuration(text);
    ASSERT_TRUE(duration.ok()) << text;
    EXPECT_EQ(duration->count(), millis) << text;
  }
}

TEST(FormatDuration, IsGos) {
  const std::pair<std::int64_t, std::string_view> cases[] = {
      {0, "0s"},           {1, "1ms"},          {300, "300ms"},           {1'000, "1s"},
      {1'500, "1.5s"},     {16'854, "16.854s"}, {60'000, "1m0s"},         {3'600'000, "1h0m0s"},
      {-90'000, "-1m30s"}, {-1, "-1ms"},        {3'605'010, "1h0m5.01s"},
  };
  for (const auto& [millis, text] : cases) {
    EXPECT_EQ(FormatDuration(Millis(millis)), text);
    EXPECT_EQ(ParseDuration(text)->count(), millis);
  }
}

TEST(ParseDuration, RefusesInGosWords) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "time: invalid duration \"\""},
      {"-", "time: invalid duration \"-\""},
      {".s", "time: invalid duration \".s\""},
      {"ten", "time: invalid duration \"ten\""},
      {"10", "time: missing unit in duration \"10\""},
      {"1h5", "time: missing unit in duration \"1h5\""},
      {"1d", "time: unknown unit \"d\" in duration \"1d\""},
      {"1 h", "time: unknown unit \" h\" in duration \"1 h\""},
      {"9999999h", "time: invalid duration \"9999999h\""},
      {"99999999999999999999s", "time: invalid duration \"99999999999999999999s\""},
      {"2562047h48m", "time: invalid duration \"2562047h48m\""},
  };
  for (const auto& [text, message] : cases) {
    auto duration = ParseDuration(text);
    ASSERT_FALSE(duration.ok()) << text;
    EXPECT_EQ(duration.code(), Code::kInvalidArgument);
    EXPECT_EQ(duration.error().message, message);
  }
}

}  // namespace
}  // namespace capi::api
