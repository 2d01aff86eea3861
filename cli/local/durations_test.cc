#include "cli/local/durations.h"

#include <gtest/gtest.h>

namespace capi::cli {
namespace {

TEST(PositiveDuration, AsGoWritesItOrInSeconds) {
  const std::pair<const char*, Millis> cases[] = {{"90s", Seconds(90)},
                                                  {"1h0m5s", Seconds(3605)},
                                                  {"300", Seconds(300)},
                                                  {"250ms", Millis(250)},
                                                  {"1.5m", Seconds(90)}};
  for (const auto& [text, expected] : cases) {
    auto read = PositiveDuration("--timeout " + std::string(text), text);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(*read, expected) << text;
  }
}

TEST(PositiveDuration, WhatIsNoneNamesTheFlag) {
  for (const char* text :
       {"", "0", "0s", "-5s", "-5", "5 s", "s", "5x", "99999999999999999999", "4294967297000", "10001h"}) {
    auto read = PositiveDuration("--timeout " + std::string(text), text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().message.rfind("--timeout " + std::string(text), 0), 0u) << read.error().message;
  }
}

}  // namespace
}  // namespace capi::cli
