#include "templating/substitute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/vectors.h"

namespace capi::templating {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Variables From(const Json& variables) {
  return [&variables](const std::string& name) -> std::optional<std::string> {
    auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->get<std::string>();
  };
}

TEST(Substitute, FollowsTheTemplateVectors) {
  RunVectors("template.json", [](const Json&, const Json& c) {
    auto text = c["template"].get<std::string>();
    Source source(text, "");
    Substituted out;
    auto error = Substitute(source, From(c["variables"]), true, out);
    if (c.contains("error")) {
      ASSERT_TRUE(error.has_value());
      EXPECT_EQ(error->step, RenderStep::kVariables);
      EXPECT_THAT(error->error.message, HasSubstr(c["error"].get<std::string>()));
      EXPECT_EQ(error->missing, c.value("missing", std::vector<std::string>()));
    } else {
      ASSERT_FALSE(error.has_value()) << error->error.message;
      EXPECT_EQ(out.text, c["want"].get<std::string>());
    }
    if (c.contains("discover")) {
      TemplateError ignored;
      auto parsed = Template::Parse(text, ignored);
      ASSERT_TRUE(parsed);
      Json found = Json::object();
      for (const auto& [name, fallback] : parsed->Variables()) found[name] = fallback ? Json(*fallback) : Json();
      EXPECT_EQ(found, c["discover"]);
    }
  });
}

// I5: every missing variable at once, sorted.
TEST(Substitute, NamesAllMissingVariables) {
  Source source("a: ${Z}\nb: ${C:=x}\nc: ${A} ${ M }\n", "");
  Substituted out;
  auto error = Substitute(source, nullptr, true, out);
  ASSERT_TRUE(error.has_value());
  EXPECT_THAT(error->missing, ElementsAre("A", "M", "Z"));
  EXPECT_THAT(error->error.message, HasSubstr("value for variables [A, M, Z] is not set"));
}

// F2: line and column of the file as fetched; additional manifests have lines of their own.
TEST(Substitute, ErrorsHavePlaces) {
  struct Case {
    std::string_view components, additional, message;
  };
  const Case cases[] = {
      {"a: 1\nb: ${C\n", "", "variable at line 2, column 4: missing closing brace"},
      {"a: ${ A }\nb: ${ B } ${C d}\n", "", "variable at line 2, column 11: missing closing brace"},
      {"é: ${A/b}", "", "variable at line 1, column 4: bad substitution"},
      {"a: ${A}\n", "x: 1\ny: ${}\n",
       "variable at line 2, column 4 of the additional manifests: unable to parse variable name"},
  };
  for (const auto& c : cases) {
    Source source(c.components, c.additional);
    Substituted out;
    auto error = Substitute(source, nullptr, true, out);
    ASSERT_TRUE(error.has_value()) << c.components;
    EXPECT_EQ(error->error.message, c.message);
  }
}

TEST(Substitute, AnUntouchedTextIsNotCopied) {
  std::string text = "a: 1\n$(B) $C\n";
  Source source(text, "");
  Substituted out;
  ASSERT_FALSE(Substitute(source, nullptr, true, out).has_value());
  EXPECT_EQ(out.text.data(), text.data());
}

TEST(Substitute, WithoutSubstitutionTheVariablesAreListedAll) {
  Source source("a: ${Z}\nb: ${C:=x}\n", "");
  Substituted out;
  ASSERT_FALSE(Substitute(source, nullptr, false, out).has_value());
  EXPECT_EQ(out.text, source.text());
  EXPECT_THAT(out.variables, ElementsAre("C", "Z"));
}

}  // namespace
}  // namespace capi::templating
