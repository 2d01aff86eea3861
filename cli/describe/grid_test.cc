#include "cli/describe/grid.h"

#include <gtest/gtest.h>

namespace capi::cli::describe {
namespace {

TEST(DisplayWidth, IsThatOfATerminal) {
  const std::pair<const char*, size_t> cases[] = {
      {"", 0},
      {"abc", 3},
      {"├─", 2},
      {"hällo", 5},
      {"日本語 text", 11},
      {"e\xCC\x81", 1},  // an accent of its own
      {"🙂", 2},
      {"…", 1},
      {"a\tb", 2},
      {"\x1b[31mred\x1b[0m", 3},
      {"\x1b[", 0},
      {"\x1b[31", 0},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(DisplayWidth(text), want) << text;
}

TEST(FormatGrid, EveryColumnIsAsWideAsItsWidestCell) {
  EXPECT_EQ(FormatGrid({{"NAME", "UP TO DATE"}, {"long name", "1"}, {"日本", ""}}, 2),
            "NAME       UP TO DATE \n"
            "long name  1          \n"
            "日本                  \n");
  EXPECT_EQ(FormatGrid({{"A", "B"}, {"\x1b[1mxyz\x1b[22m", "b"}}, 1),
            "A   B \n"
            "\x1b[1mxyz\x1b[22m b \n");
  EXPECT_EQ(FormatGrid({}, 2), "");
}

TEST(Paint, WritesSequencesWhereItIsOn) {
  EXPECT_EQ(Paint(false)(Colour::kRed, "a"), "a");
  EXPECT_EQ(Paint(true)(Colour::kRed, "a"), "\x1b[31ma\x1b[0m");
  EXPECT_EQ(Paint(true)(Colour::kBold, "a"), "\x1b[1ma\x1b[22m");
  EXPECT_EQ(Paint(true)(Colour::kBoldWhite, ""), "\x1b[37;1m\x1b[0;22m");
}

// A line is cut where the next character has no room, and its colour ends there.
TEST(Grid, ALineIsCutToAWidth) {
  struct Case {
    const char* line;
    size_t columns;
    const char* want;
  };
  const Case cases[] = {
      {"abc", 3, "abc"},
      {"abc", 2, "ab"},
      {"abc", 0, ""},
      {"├─b", 2, "├─"},
      {"a日b", 2, "a"},
      {"a日b", 3, "a日"},
      {"\x1b[31mred\x1b[0m", 3, "\x1b[31mred\x1b[0m"},
      {"\x1b[31mred\x1b[0m", 2, "\x1b[31mre\x1b[0m"},
      {"\x1b[31mred\x1b[0mx", 3, "\x1b[31mred\x1b[0m\x1b[0m"},
      {"\x1b[3", 3, "\x1b[3"},
      {"", 3, ""},
  };
  for (const Case& c : cases) EXPECT_EQ(CutToWidth(c.line, c.columns), c.want) << c.line << " " << c.columns;
}

}  // namespace
}  // namespace capi::cli::describe
