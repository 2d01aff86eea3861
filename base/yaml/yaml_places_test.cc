#include "base/yaml/yaml_places.h"

#include <gtest/gtest.h>

#include <vector>

namespace capi {
namespace {

constexpr std::string_view kFile = R"(# a comment
providers:
- name: aws
  url: "https://x"
- {Name: azure}
images:
  all:
    tag: v1
COUNT: 1_000
)";

using Steps = std::vector<std::string>;

TEST(YamlPlaces, LeadToTheLine) {
  YamlPlaces places(kFile);
  struct Case {
    Steps path;
    std::string want;
  };
  const Case cases[] = {
      {{}, "line 2, column 1"},
      {{"providers"}, "line 3, column 1"},
      {{"Providers", "0", "url"}, "line 4, column 8"},
      {{"providers", "1", "name"}, "line 5, column 10"},
      {{"providers", "1", "url"}, "line 5, column 3"},  // not there: the entry
      {{"providers", "2"}, "line 3, column 1"},
      {{"images", "all", "tag"}, "line 8, column 10"},
      {{"nothing"}, "line 2, column 1"},
  };
  for (const Case& c : cases) EXPECT_EQ(places.Of(c.path), c.want);
  EXPECT_EQ(YamlPlaces("").Of({}), "");
  EXPECT_EQ(YamlPlaces("a: [").Of({}), "");
}

// What clusterctl v1.12.1 put for ${V}, tried value by value; a date differs on purpose: it stays as written.
TEST(YamlPlaces, GiveScalarsAsGosReadersDo) {
  const std::pair<std::string, std::optional<std::string>> cases[] = {
      {"1.10", "1.1"},
      {"\"1.10\"", "1.10"},
      {"1", "1"},
      {"010", "8"},
      {"0o10", "8"},
      {"0x1F", "31"},
      {"0b11", "3"},
      {"1_000", "1000"},
      {"12345678901234567890", "12345678901234567890"},
      {"123456789012345678901234567890", "123456789012345680000000000000"},
      {"1e3", "1000"},
      {"1e21", "1000000000000000000000"},
      {"0.1", "0.1"},
      {"-1.25", "-1.25"},
      {"0.0", "0"},
      {".inf", "+Inf"},
      {".nan", "NaN"},
      {"1.5e-7", "0.00000015"},
      {"16777216.5", "16777216.5"},
      {"-0", "0"},
      {"+1", "1"},
      {"true", "true"},
      {"True", "true"},
      {"yes", "yes"},
      {"on", "on"},
      {"190:20:30", "190:20:30"},
      {"2001-01-01", "2001-01-01"},
      {"!!binary aGVsbG8=", "hello"},
      {"$HOME", "$HOME"},
      {"\"  x  \"", "  x  "},
      {"\"null\"", "null"},
      {"null", std::nullopt},
      {"~", std::nullopt},
      {"", std::nullopt},
      {"[a]", std::nullopt},
      {"{a: b}", std::nullopt},
  };
  for (const auto& [written, want] : cases) {
    EXPECT_EQ(YamlPlaces("V: " + written + "\n").TextOf(Steps{"v"}), want) << written;
  }
  EXPECT_EQ(YamlPlaces("V: 1.10\n").WrittenAt(Steps{"V"}), "1.10");
}

TEST(YamlPlaces, TellWhereAFieldIsNamed) {
  YamlPlaces places("a:\n  b:\n  - c: 1\n  - d\n", 10);
  EXPECT_EQ(places.KeyAt(Steps{"a", "b"}), (YamlPlace{11, 3}));
  EXPECT_EQ(places.KeyAt(Steps{"a", "b", "0", "c"}), (YamlPlace{12, 5}));
  EXPECT_EQ(places.KeyAt(Steps{"a", "b", "1"}), (YamlPlace{13, 5}));
  // The last step that is there.
  EXPECT_EQ(places.KeyAt(Steps{"a", "b", "7"}), (YamlPlace{11, 3}));
  EXPECT_EQ(places.KeyAt(Steps{"a", "x", "y"}), (YamlPlace{10, 1}));
  EXPECT_EQ(places.KeyAt({}), (YamlPlace{10, 1}));
  EXPECT_EQ(places.Of(Steps{"a", "b", "1"}), "line 13, column 5");
  EXPECT_EQ(YamlPlaces("[").KeyAt({}), std::nullopt);
}

TEST(YamlPlaces, TellOfKeysThatStandTwice) {
  EXPECT_EQ(YamlPlaces("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n").RepeatedKey(),
            "line 5, column 3: key \"c\" is already on line 3");
  EXPECT_EQ(YamlPlaces("a: 1\nb: {a: 1}\n").RepeatedKey(), "");
}

}  // namespace
}  // namespace capi
