#include "templating/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace capi::templating {
namespace {

using testing::HasSubstr;
using testing::Not;

using Values = std::map<std::string, std::string>;

Result<std::vector<kube::Object>> Parse(std::string_view components, std::string_view additional = "",
                                        const Values& values = {}) {
  Source source(components, additional);
  Substituted substituted;
  Variables lookup = [&](const std::string& name) -> std::optional<std::string> {
    auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
  if (auto error = Substitute(source, lookup, true, substituted)) return error->error;
  return ParseObjects(source, substituted);
}

constexpr std::string_view kConfigMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n";

TEST(ParseObjects, KeepsTheOrderOfTheText) {
  auto objects =
      Parse("---\n# licence\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n---\n" + std::string(kConfigMap));
  ASSERT_TRUE(objects.ok()) << objects.error().message;
  ASSERT_EQ(objects->size(), 2u);
  EXPECT_EQ((*objects)[0].kind(), "Secret");
  EXPECT_EQ((*objects)[1].kind(), "ConfigMap");
}

// F2
TEST(ParseObjects, BadInputHasAClearErrorAndAPlace) {
  const std::string map(kConfigMap);
  struct Case {
    std::string components, additional;
    Values values;
    std::string_view message;
  };
  const Case cases[] = {
      {"", "", {}, "there is no object in it"},
      {"---\n# nothing\n---\n", "", {}, "there is no object in it"},
      {"just text\n", "", {}, "the document on line 1 is no map"},
      {map + "---\nmetadata: {name: x}\n", "", {}, "the document on line 6 has no kind"},
      {map + "---\nkind: Secret\nmetadata: {name: x}\n", "", {}, "the document on line 6 has no apiVersion"},
      {map + "---\napiVersion: v1\nkind: Secret\n", "", {}, "the document on line 6 has no name"},
      {"a: b: c\n", "", {}, "line 1, column 5: mapping values are not allowed in this context"},
      // A value with newlines shifts what comes after it; the place doesn't move.
      {"x: ${A}\ny: ok\nz: b: c\n", "", {{"A", "\n  p: 1\n  q: 2"}}, "line 3, column 5: mapping values"},
      {map, "a: 1\nb: c: d\n", {}, "line 2, column 5 of the additional manifests: mapping values"},
      {map, "kind: x\n", {}, "the document on line 1 of the additional manifests has no apiVersion"},
  };
  for (const auto& c : cases) {
    auto objects = Parse(c.components, c.additional, c.values);
    ASSERT_FALSE(objects.ok()) << c.message;
    EXPECT_EQ(objects.error().code, Code::kInvalidArgument);
    EXPECT_THAT(objects.error().message, HasSubstr(c.message));
  }
}

// I7: what a value does to the YAML is said without the value.
TEST(ParseObjects, ValuesStayOutOfErrors) {
  for (const char* secret :
       {"*hunter2", "hunter2: hunter2", "\"hunter2", "!!int hunter2", "[hunter2", "\n--- hunter2"}) {
    auto objects = Parse("a: 1\npassword: ${PASSWORD} # ${USER:=x}\n", "", {{"PASSWORD", secret}});
    ASSERT_FALSE(objects.ok()) << secret;
    EXPECT_THAT(objects.error().message, HasSubstr("line 2")) << secret;
    EXPECT_THAT(objects.error().message, HasSubstr("PASSWORD")) << secret;
    EXPECT_THAT(objects.error().message, Not(HasSubstr("hunter2"))) << secret;
  }
}

}  // namespace
}  // namespace capi::templating
