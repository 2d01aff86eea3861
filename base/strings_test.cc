#include "base/strings.h"

#include <gtest/gtest.h>

namespace capi {
namespace {

using Names = std::vector<std::string>;

TEST(Strings, SplitAndJoin) {
  EXPECT_EQ(Split("a,,b", ','), (Names{"a", "", "b"}));
  EXPECT_EQ(Split("", ','), Names{});
  EXPECT_EQ(Split("a,", ','), (Names{"a", ""}));
  EXPECT_EQ(Join(Names{"a", "b"}, ", "), "a, b");
  EXPECT_EQ(Join(Names{}, ", "), "");
}

TEST(Strings, JoinNamesCountsTheRest) {
  const Names names = {"a", "b", "c"};
  EXPECT_EQ(JoinNames(names, 2), "a, b and 1 more");
  EXPECT_EQ(JoinNames(names, 3), "a, b, c");
  EXPECT_EQ(JoinNames(names, 0), "3 more");
  EXPECT_EQ(JoinNames(Names{}, 2), "");
}

TEST(Strings, ShortenKeepsWholeCharacters) {
  EXPECT_EQ(Shorten("abc", 3), "abc");
  EXPECT_EQ(Shorten("abcd", 3), "abc...");
  EXPECT_EQ(Shorten("a\xC3\xA9z", 2), "a...");
  EXPECT_EQ(Shorten("a\xC3\xA9z", 3), "a\xC3\xA9...");
  EXPECT_EQ(Shorten("\x80\x80", 1), "...");
  EXPECT_EQ(Shorten("", 0), "");
}

TEST(Strings, TrimAndCaseAndReplace) {
  EXPECT_EQ(Trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
  EXPECT_EQ(ToLower("AbZ9É"), "abz9É");
  EXPECT_EQ(ToUpper("aBz9é"), "ABZ9é");
  EXPECT_EQ(ReplaceAll("aaa", "aa", "b"), "ba");
  EXPECT_EQ(ReplaceAll("abc", "", "x"), "abc");
  EXPECT_EQ(ReplaceAll("a.b.", ".", ".."), "a..b..");
}

TEST(Strings, KubernetesNames) {
  struct Case {
    std::string text;
    bool label, subdomain;
  };
  const std::string longest(63, 'a');
  const Case cases[] = {
      {"a", true, true},
      {"my-name-1", true, true},
      {"1a", true, true},
      {"", false, false},
      {"-a", false, false},
      {"a-", false, false},
      {"A", false, false},
      {"a_b", false, false},
      {"a.b", false, true},
      {"a..b", false, false},
      {".a", false, false},
      {"a.-b", false, false},
      {longest, true, true},
      {longest + "a", false, true},
      {longest + "." + longest + "." + longest + "." + std::string(61, 'a'), false, true},
      {longest + "." + longest + "." + longest + "." + std::string(62, 'a'), false, false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(IsDns1123Label(c.text), c.label) << c.text;
    EXPECT_EQ(IsDns1123Subdomain(c.text), c.subdomain) << c.text;
  }
}

TEST(Strings, Utf8) {
  for (std::string_view good :
       {"", "a", "\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(IsValidUtf8(good)) << good;
  for (std::string_view bad : {"\x80", "\xc0\x80", "\xc2", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                               "\xf4\x90\x80\x80", "\xff", "\xe2\x82"})
    EXPECT_FALSE(IsValidUtf8(bad)) << bad;
}

}  // namespace
}  // namespace capi
