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
      "twice: 1\ntwice: 22\n--- \nafter: 1\n";
  struct Case {
    YamlPath path;
    std::optional<std::string> value;
  };
  const Case cases[] = {
      {{"a"}, "{b: x\xC3\xA9y, 'c d': [1, {e: two}]}"},
      {{"a", "b"}, "x\xC3\xA9y"},
      {{"a", "c d", "1", "e"}, "two"},
      {{"empty"}, ""},
      {{"list", "0", "p"}, "'q\n    r'"},
      {{"list", "1"}, "!!int\n  5"},
      {{"list", "2"}, std::nullopt},
      {{"block"}, "- z\n\n"},
      {{"true"}, "on"},
      {{"again"}, "&base {k: v}"},
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
    ASSERT_EQ(found[i].has_value(), cases[i].value.has_value());
    if (found[i]) EXPECT_EQ(Cut(kText, found[i]->value), *cases[i].value);
  }
  std::vector<std::string> keys;
  for (const YamlExtent& key : found[2]->keys) keys.push_back(Cut(kText, key));
  EXPECT_THAT(keys, ElementsAre("a", "'c d'", "", "e"));
  EXPECT_EQ(found[3]->value.begin, kText.find("empty:") + 6) << "behind its key";
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
