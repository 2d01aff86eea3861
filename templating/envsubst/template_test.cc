#include "templating/envsubst/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/testing/vectors.h"

namespace capi::templating {
namespace {

Template::Lookup From(const Json& variables) {
  return [&variables](const std::string& name) -> std::optional<std::string> {
    auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->get<std::string>();
  };
}

// The text at `key`, or what its _base64 twin decodes to.
std::string TextAt(const Json& object, const std::string& key) {
  if (object.contains(key + "_base64")) return Base64Decode(object[key + "_base64"].get<std::string>()).value();
  return object.at(key).get<std::string>();
}

TEST(Template, EvaluatesEveryVectorAsTheReferenceDoes) {
  RunVectors("envsubst.json", [](const Json&, const Json& c) {
    std::string text = TextAt(c, "template");
    TemplateError error;
    auto parsed = Template::Parse(text, error, Dialect::kEnvsubst);
    auto got = parsed ? parsed->Evaluate(From(c["variables"]), error) : std::nullopt;
    if (c.contains("error")) {
      EXPECT_FALSE(got.has_value());
      if (c.contains("reference_panics")) return;
      EXPECT_EQ(error.message, c["error"].get<std::string>());
    } else if (got) {
      EXPECT_EQ(got->text, TextAt(c, "want"));
    } else {
      ADD_FAILURE() << error.message;
    }
  });
}

TEST(Template, SegmentsLeadFromTheOutputBackToTheText) {
  std::string text = "a: ${ A }\nb: $${B}\nc: ${C:=x}\n";
  TemplateError error;
  auto parsed = Template::Parse(text, error);
  ASSERT_TRUE(parsed);
  Json variables = {{"A", "1\n2"}};
  auto out = parsed->Evaluate(From(variables), error);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->text, "a: 1\n2\nb: ${B}\nc: x\n");
  for (const OutputSegment& segment : out->segments) {
    if (!segment.literal) {
      EXPECT_EQ(text.compare(segment.source, 2, "${"), 0) << segment.source;
    } else {
      EXPECT_EQ(out->text[segment.output], text[segment.source]) << segment.output;
    }
  }
}

TEST(Template, SaysWhereItIsWrong) {
  struct Case {
    std::string_view text;
    size_t offset;
  };
  const Case cases[] = {
      {"ok ${A} bad ${B", 12}, {"${A:=${B!}}", 5}, {"${ A } ${ B } ${C d}", 14}, {"x\n${A/b}", 2}, {"${ A:=x}", 0},
  };
  for (const auto& c : cases) {
    TemplateError error;
    EXPECT_FALSE(Template::Parse(c.text, error)) << c.text;
    EXPECT_EQ(error.offset, c.offset) << c.text;
  }
}

TEST(Template, DeepNestingNeitherRecursesNorCopies) {
  constexpr size_t kDepth = 50'000;
  std::string text;
  for (size_t i = 0; i < kDepth; ++i) text += "${A:=x";
  text.append(kDepth, '}');
  TemplateError error;
  auto parsed = Template::Parse(text, error);
  ASSERT_TRUE(parsed);
  auto out = parsed->Evaluate([](const std::string&) { return std::nullopt; }, error);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->text, std::string(kDepth, 'x'));
}

TEST(Template, OutputAndWorkAreBounded) {
  auto lookup = [](const std::string&) { return std::string(1000, 'a'); };
  TemplateError error;
  std::string many;
  for (int i = 0; i < 200; ++i) many += "${A}";
  auto parsed = Template::Parse(many, error);
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(parsed->Evaluate(lookup, error, 100'000));
  EXPECT_EQ(error.message, "the result is too large");
  EXPECT_TRUE(parsed->Evaluate(lookup, error, 200'000));

  std::string scans;
  for (int i = 0; i < 2000; ++i) scans += "${#A}";
  parsed = Template::Parse(scans, error);
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(parsed->Evaluate(lookup, error, 100'000));
  EXPECT_EQ(error.message, "the template takes too long to evaluate");

  parsed = Template::Parse("${A//a/bbbb}", error);
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(parsed->Evaluate(lookup, error, 3'000));
}

}  // namespace
}  // namespace capi::templating
