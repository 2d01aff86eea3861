#include "base/yaml/yaml_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi {
namespace {

using ::testing::ElementsAre;

std::string Cut(std::string_view text, YamlExtent extent) {
  return std::string(text.substr(extent.begin, extent.end - extent.begin));
}

TEST(YamlFields, AreFoundToTheByte) {
  constexpr std::string_view kText =
      "\xEF\xBB\xBF# \xC3\xA4\n"
      "a: {b: x\xC3\xA9y, 'c d': [1, {e: two}]}\n"
      "empty:\n"
      "list:\n- p: 'q\n    r'\n- !!int\n  5\n"
      "block:\n  - z\n\nyes: on\n"
      "base: &base {k: v}\nagain: *base\nmerged: {<<: *base}\n"
      "tagged: {!!merge <<: *base}\n"
      "spaced:\n  a : 1\n  b: 2\npairs: [a: b, c]\ntwice: 1\ntwice: 22\n--- \nafter: 1\n";
  struct Case {
    YamlPath path;
    std::optional<std::string> type_from;
  };
  const Case cases[] = {
      {{"a"}, "{"},
      {{"a", "c d"}, "["},
      {{}, ":"},
      {{"a", "b"}, "x\xC3\xA9y"},
      {{"a", "c d", "1", "e"}, "two"},
      {{"empty"}, ""},
      {{"list", "0", "p"}, "'q\n    r'"},
      {{"list", "1"}, "!!int\n  5"},
      {{"list", "2"}, std::nullopt},
      {{"block"}, "-"},
      {{"true"}, "on"},
      {{"again"}, "{"},
      {{"list"}, "-"},
      {{"list", "0"}, ":"},
      {{"spaced"}, " "},
      {{"pairs", "0"}, ":"},
      {{"again", "k"}, std::nullopt},
      {{"merged", "k"}, std::nullopt},
      {{"merged", "<<"}, std::nullopt},
      {{"tagged", "k"}, std::nullopt},
      {{"tagged", "<<"}, std::nullopt},
      {{"twice"}, "22"},
      {{"A"}, std::nullopt},
      {{"after"}, std::nullopt},
  };
  std::vector<YamlPath> paths;
  for (const Case& c : cases) paths.push_back(c.path);
  auto found = FindYamlFields(kText, paths);
  ASSERT_EQ(found.size(), paths.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    SCOPED_TRACE(::testing::PrintToString(paths[i]));
    ASSERT_EQ(found[i].has_value(), cases[i].type_from.has_value());
    if (!found[i]) continue;
    EXPECT_EQ(Cut(kText, found[i]->type_from), *cases[i].type_from);
  }
  std::vector<std::string> keys;
  for (const YamlExtent& key : found[4]->keys) keys.push_back(Cut(kText, key));
  EXPECT_THAT(keys, ElementsAre("a", "'c d'", "", "e"));
  EXPECT_EQ(found[5]->type_from.begin, kText.find("empty:") + 6) << "behind its key";
}

// Also where an anchor or a tag comes first, further in than the key or not (F2).
TEST(YamlFields, ABlockListBeginsWithItsDash) {
  for (std::string_view text : {"a: &x\n  - b", "a: &x\n - b", "a: &x\n- b", "a:\n  - b", "a:\n- b", "a: !!seq\n- b",
                                "a: !!seq &x # -\n\n  - b", "a: !!seq &x # -\n\n- b",
                                "\xEF\xBB\xBF\"a\": &x # \xC3\xA9\n- b", "# \xE2\x82\xAC\na: &x\n  -\n   b"}) {
    SCOPED_TRACE(text);
    const std::vector<YamlPath> paths = {{"a"}};
    auto found = FindYamlFields(text, paths);
    ASSERT_TRUE(found[0].has_value());
    EXPECT_EQ(found[0]->type_from.begin, text.rfind('-'));
    EXPECT_EQ(found[0]->type_from.end, text.rfind('-') + 1);
  }
}

TEST(YamlFields, OfEqualKeysTheLastCountsWithAllBelowIt) {
  const std::vector<YamlPath> paths = {{"a", "b"}, {"a", "c"}, {"a", "c", "0"}, {"a", "d"}, {"a"}};
  auto found = FindYamlFields("a: {b: 1, c: [x], d: 1}\na: {b: 2, c: y}\n", paths);
  ASSERT_TRUE(found[0].has_value());
  EXPECT_EQ(found[0]->type_from.begin, 31u);
  EXPECT_TRUE(found[1].has_value());
  EXPECT_FALSE(found[2].has_value());
  EXPECT_FALSE(found[3].has_value());
  EXPECT_TRUE(found[4].has_value());
}

// Whatever a key that comes twice held before.
TEST(YamlFields, OnlyItemsHaveEmptyKeys) {
  constexpr std::string_view kText = "a: {0: x, '': y}\nb: {0: x}\nb: [x]\n";
  const std::vector<YamlPath> paths = {{"a", "0"}, {"a", ""}, {"b", "0"}};
  auto found = FindYamlFields(kText, paths);
  std::vector<std::string> keys;
  for (const auto& field : found) keys.push_back(Cut(kText, field.value().keys.at(1)));
  EXPECT_THAT(keys, ElementsAre("0", "''", ""));
}

// Paths come in any order, and more than once.
TEST(YamlFields, EachPathIsFollowed) {
  const std::vector<YamlPath> paths = {{"b", "10"}, {"b"}, {"a"}, {"b", "9", "x"}, {"b", "9"}, {"b", "10"}, {"ab"}};
  auto found = FindYamlFields("ab: 1\nb: [0, 1, 2, 3, 4, 5, 6, 7, 8, {x: y}, z]\na: 2\n", paths);
  for (size_t i = 0; i < paths.size(); ++i) EXPECT_TRUE(found[i].has_value()) << i;
}

TEST(YamlFields, TextThatIsNoYamlIsReadUpToTheError) {
  const std::vector<YamlPath> paths = {{"a"}, {"b"}, {}};
  auto found = FindYamlFields("a: 1\nb: {c: d\n", paths);
  EXPECT_TRUE(found[0].has_value());
  EXPECT_FALSE(found[1].has_value());
  EXPECT_FALSE(found[2].has_value());
  EXPECT_FALSE(FindYamlFields("", paths)[2].has_value());
  EXPECT_FALSE(FindYamlFields("{[a]: b, a: 1}", paths)[0].has_value()) << "no JSON has such keys";
}

}  // namespace
}  // namespace capi
