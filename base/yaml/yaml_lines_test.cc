#include "base/yaml/yaml_lines.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/yaml/yaml.h"

namespace capi {
namespace {

using ::testing::StartsWith;

TEST(YamlLines, OfAStreamEndAsForLibyamlAndForGo) {
  const std::string text =
      "a\r\nb\rc\xc2\x85"
      "d\xe2\x80\xa8"
      "e\xe2\x80\xa9"
      "f\r\r\n"
      "g\n";
  EXPECT_EQ(CountYamlStreamBreaks(text), 7u);
  for (size_t line = 1; line <= 7; ++line) {
    EXPECT_EQ(text[OffsetOfYamlStreamLine(text, line)], "abcdefg"[line - 1]) << line;
  }
  EXPECT_EQ(OffsetOfYamlStreamLine(text, 8), text.size());
  EXPECT_EQ(OffsetOfYamlStreamLine(text, 9), text.size());
  EXPECT_EQ(CountYamlStreamBreaks("a\r\r\r\nb"), 2u);
  EXPECT_EQ(OffsetOfYamlStreamLine("", 1), 0u);
}

// F2: libyaml's reader knows bytes alone, so its lines are counted here.
TEST(YamlLines, EndAsForLibyaml) {
  for (std::string_view end : {"\n", "\r", "\r\n", "\r\r\n", "\r\r\r\n", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
    const std::string begin = "a: 1" + std::string(end);
    auto of_parser = ParseYaml(begin + "b: ]"), of_reader = ParseYaml(begin + "b: \xFF");
    ASSERT_FALSE(of_parser.ok() || of_reader.ok());
    const std::string line = fmt::format("line {}, ", CountYamlBreaks(begin) + 1);
    EXPECT_THAT(of_parser.error().message, StartsWith(line));
    EXPECT_THAT(of_reader.error().message, StartsWith(line));
  }
}

}  // namespace
}  // namespace capi
