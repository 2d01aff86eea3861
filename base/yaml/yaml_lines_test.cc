#include "base/yaml/yaml_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace capi {
namespace {

TEST(YamlLines, EndAsForLibyaml) {
  const std::string text =
      "a\r\nb\rc\xc2\x85"
      "d\xe2\x80\xa8"
      "e\xe2\x80\xa9"
      "f\r\r\n"
      "g\n";
  EXPECT_EQ(CountYamlBreaks(text), 7u);
  for (size_t line = 1; line <= 7; ++line) EXPECT_EQ(text[OffsetOfYamlLine(text, line)], "abcdefg"[line - 1]) << line;
  EXPECT_EQ(OffsetOfYamlLine(text, 8), text.size());
  EXPECT_EQ(OffsetOfYamlLine(text, 9), text.size());
  EXPECT_EQ(CountYamlBreaks("a\r\r\r\nb"), 2u);
  EXPECT_EQ(OffsetOfYamlLine("", 1), 0u);
}

}  // namespace
}  // namespace capi
