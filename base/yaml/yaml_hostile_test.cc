#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml/yaml.h"

namespace capi {
namespace {

using ::testing::HasSubstr;

std::string Repeat(std::string_view piece, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += piece;
  return out;
}

// Ten aliases of ten aliases of ...: 10^levels nodes.
std::string AliasBomb(int levels) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < levels; ++i) {
    std::string alias = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias + Repeat(", " + alias, 9) + "]\n";
  }
  return text;
}

std::string LongTextBomb() { return "- &a '" + Repeat("x", 100'000) + "'\n" + Repeat("- *a\n", 2000); }

// Each anchor's value holds the next one's.
std::string NestedAnchors() {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "&a" + std::to_string(i) + " [";
  return text + "'" + Repeat("x", 500'000) + "'" + Repeat("]", 400);
}

TEST(YamlHostile, EndsInAnErrorThatSaysWhereAndWhat) {
  struct Case {
    std::string_view name;
    std::string text;
    std::string_view message;
  };
  const Case cases[] = {
      {"alias bomb", AliasBomb(9), "excessive aliasing"},
      {"alias bomb of one long text", LongTextBomb(), "more than 33554432 bytes of values up to here"},
      {"nested anchors", NestedAnchors(), "more than 33554432 bytes of values up to here"},
      {"an anchor in itself", "a: &a [*a]\n", "line 1, column 8: anchor value contains itself"},
      {"unknown anchor", "a: *b\n", "line 1, column 4: unknown anchor referenced"},
      {"deep lists", Repeat("[", 100'000), "nested deeper than 500"},
      {"deep maps", Repeat("{a: ", 600), "nested deeper than 500"},
      {"deep blocks", Repeat("- ", 600) + "x\n", "nested deeper than 500"},
      {"deep by aliases",
       "- &a " + Repeat("[", 300) + Repeat("]", 300) + "\n- " + Repeat("[", 300) + "*a" + Repeat("]", 300),
       "nested deeper than 500"},
      {"NUL", std::string("a: b\nc: \0\n", 10), "line 2, column 4: control characters are not allowed"},
      {"control character", "a: \x01\n", "control characters are not allowed"},
      {"broken UTF-8", "a: b\n\nc: \xff\n", "line 3, column 4: invalid leading UTF-8 octet"},
      {"overlong UTF-8", "a: \xc0\xaf\n", "line 1, column 4: invalid"},
      {"UTF-16",
       std::string("\xff\xfe"
                   "a\0:\0",
                   6),
       "invalid leading UTF-8 octet"},
      {"infinity", "a: .inf\n", "line 1, column 4: unsupported value: +Inf"},
      {"not a number", "- .nan\n", "unsupported value: NaN"},
      {"a null key", "~: x\n", "line 1, column 1: unsupported map key of type null"},
      {"a huge key", "18446744073709551615: x\n", "unsupported map key of type uint64"},
      {"a list as key", "? [a]\n: b\n", "invalid map key"},
      {"a list as key by alias", "- &a [x]\n- {*a : b}\n", "invalid map key"},
      {"merge of a scalar", "a:\n  <<: b\n", "map merge requires map or sequence of maps"},
      {"merge of an alias of a list", "a: &a [{x: y}]\nb: {<<: *a}\n", "map merge requires map or sequence of maps"},
      {"merge of a list with a scalar", "a: {<<: [{x: y}, z]}\n", "map merge requires map or sequence of maps"},
      {"wrong tag", "a: !!int x\n", "cannot decode a !!str as a !!int"},
      {"wrong binary", "a: !!binary '?'\n", "!!binary value contains invalid base64 data"},
      {"a tab", "a:\n\tb: c\n", "line 2, column 1: found character that cannot start any token"},
      {"an open quote", "a: 'b\n\n",
       "line 3, column 1: found unexpected end of stream while scanning a quoted scalar that begins on line 1"},
      {"bad indentation", "a: b\n  c: d\n", "line 2, column 4: mapping values are not allowed in this context"},
      {"separator with text", "a: b\n--- c\n", "line 2, column 4: invalid Yaml document separator: c"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto got = ParseYamlStream(c.text);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.code(), Code::kInvalidArgument);
    EXPECT_THAT(got.error().message, HasSubstr(std::string(c.message)));
    EXPECT_THAT(got.error().message, ::testing::MatchesRegex("line [0-9]+, column [0-9]+: .+"));
  }
}

TEST(YamlHostile, LinesCountFromTheStartOfTheStream) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "a: b\nc: |\n  d\n---\n";
  auto got = ParseYamlStream(text + "a: b\n\nc: [\n---\n");
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().message, HasSubstr("line 4004, column 1: "));
  auto crlf = ParseYamlStream("a: b\r\n---\r\n\r\nc: 'd\r\n");
  ASSERT_FALSE(crlf.ok());
  EXPECT_THAT(crlf.error().message, HasSubstr("begins on line 4"));
}

TEST(Yaml, DocumentsKnowWhereTheyBegin) {
  const std::string text = "# a\n\na: 1\n---\n# b\n---\r\n\n  b: 2\n---\n[c]";
  auto got = ParseYamlStream(text);
  ASSERT_TRUE(got.ok()) << got.error().message;
  ASSERT_EQ(got->size(), 3u);
  const std::pair<int, std::string_view> places[] = {{3, "a: 1\n"}, {8, "  b: 2\n"}, {10, "[c]"}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*got)[i].line, places[i].first);
    EXPECT_EQ(text.substr((*got)[i].offset, places[i].second.size()), places[i].second);
  }
}

TEST(YamlHostile, LimitsHold) {
  YamlLimits limits;
  limits.max_depth = 3;
  limits.max_nodes = 10;
  limits.max_documents = 2;
  struct Case {
    std::string_view text;
    bool fits;
  };
  const Case cases[] = {
      {"[[[a]]]", true},
      {"[[[[a]]]]", false},
      {"[1, 2, 3, 4, 5, 6, 7, 8, 9]", true},
      {"[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", false},
      {"[&a [1, 2], *a, *a]", false},
      {"a\n---\n---\n# none\n---\nb\n", true},
      {"a\n---\nb\n---\nc\n", false},
  };
  for (const Case& c : cases) EXPECT_EQ(ParseYamlStream(c.text, limits).ok(), c.fits) << c.text;
  // All documents together, and what aliases stand for.
  limits = {};
  limits.max_memory = 100'000;
  const std::string item = Repeat("x", 1000);
  EXPECT_TRUE(ParseYamlStream(Repeat("- " + item + "\n", 80), limits).ok());
  EXPECT_THAT(ParseYamlStream(Repeat("- " + item + "\n---\n", 100), limits).error().message,
              HasSubstr("more than 100000 bytes of values up to here"));
  EXPECT_FALSE(ParseYamlStream("- &a " + item + "\n" + Repeat("- *a\n", 100), limits).ok());
  EXPECT_FALSE(ParseYamlStream("[" + Repeat("1,", 2000) + "]", limits).ok());
}

}  // namespace
}  // namespace capi
