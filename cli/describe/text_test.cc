#include "cli/describe/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::cli::describe {
namespace {

using testing::ElementsAre;

// L15: as kubectl writes them.
TEST(Age, HasOneOrTwoUnits) {
  constexpr std::int64_t kHour = 3600, kDay = 24 * kHour, kYear = 365 * kDay;
  const std::pair<std::int64_t, const char*> cases[] = {
      {-2, "<invalid>"},
      {-1, "0s"},
      {0, "0s"},
      {119, "119s"},
      {120, "2m"},
      {200, "3m20s"},
      {599, "9m59s"},
      {600, "10m"},
      {659, "10m"},
      {3 * kHour - 1, "179m"},
      {3 * kHour, "3h"},
      {7 * kHour + 61, "7h1m"},
      {8 * kHour + 61, "8h"},
      {2 * kDay - 1, "47h"},
      {2 * kDay, "2d"},
      {2 * kDay + kHour, "2d1h"},
      {8 * kDay - 1, "7d23h"},
      {8 * kDay + kHour, "8d"},
      {2 * kYear - 1, "729d"},
      {2 * kYear, "2y"},
      {2 * kYear + kDay, "2y1d"},
      {8 * kYear - 1, "7y364d"},
      {8 * kYear + kDay, "8y"},
  };
  WallTime now = ParseTime("2026-01-02T15:04:05Z").value();
  for (const auto& [seconds, want] : cases) EXPECT_EQ(Age(now - Seconds(seconds), now), want) << seconds;
  EXPECT_EQ(Age(std::nullopt, now), "<unknown>");
}

// L15: where Cluster API's clusterctl breaks them.
TEST(WrapMessage, BreaksLinesBetweenWords) {
  struct Case {
    const char* text;
    std::vector<std::string> want;
  };
  const Case cases[] = {
      {"", {""}},
      {"one", {"one"}},
      {"one two", {"one two"}},
      {"one two three", {"one two", "three"}},
      {"one two \t\r\f  4", {"one two 4"}},
      {"one\ntwo\n", {"one", "two", ""}},
      {"  in  four five", {"  in four", "  five"}},
      {"* item one two", {"* item one", "  two"}},
      {" * item one two", {" * item", "   one two"}},
      {"*item one two", {"*item one", "two"}},
      {"one ", {"one "}},
      {"tenletters", {"", "tenletters"}},
      {"a tenletters b", {"a", "tenletters", "b"}},
      {"ninechars", {"ninechars"}},
  };
  for (const Case& c : cases) EXPECT_EQ(WrapMessage(c.text, 10), c.want) << c.text;
}

// L15: a status is written by others, who may not steer the terminal of whoever reads it.
TEST(Printable, HasNoControlCharactersButLineBreaks) {
  EXPECT_EQ(Printable("a\x1b[31mb\x07\x7f"), "a?[31mb??");
  EXPECT_EQ(Printable("a\nb\tc\rd\fe"), "a\nb c d e");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "31m \xC3\xA9 \xC2\xA0"),
            "?31m \xC3\xA9 \xC2\xA0");
  EXPECT_EQ(Printable("\xC2"), "\xC2");
}

}  // namespace
}  // namespace capi::cli::describe
