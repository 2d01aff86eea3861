#include "kube/meta/label_selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::kube {
namespace {

TEST(LabelSelector, MatchesAsKubernetesDoes) {
  struct Case {
    std::string_view selector, labels;
    bool matches;
  };
  const Case cases[] = {
      {"", "{}", true},
      {"", "null", true},
      {"a=b", R"({"a":"b","c":"d"})", true},
      {"a==b", R"({"a":"c"})", false},
      {"a!=b", R"({})", true},
      {"a!=b", R"({"a":"b"})", false},
      {"a in (b, c)", R"({"a":"c"})", true},
      {"a in (b,c)", R"({})", false},
      {"a notin (b,c)", R"({"a":"d"})", true},
      {"a notin (b,c)", "null", true},
      {"a", R"({"a":""})", true},
      {"!a", R"({"a":""})", false},
      {"! a", R"({"b":""})", true},
      {"a=", R"({"a":""})", true},
      {"a0.Z_9=A-9z", R"({"a0.Z_9":"A-9z"})", true},
      {"x.io/a=b, !c ,d in (e)", R"({"x.io/a":"b","d":"e"})", true},
      {"x.io/a=b,!c,d in (e)", R"({"x.io/a":"b","d":"f"})", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.selector);
    auto selector = LabelSelector::Parse(c.selector);
    ASSERT_TRUE(selector.ok()) << selector.error().message;
    EXPECT_EQ(selector->Matches(Json::parse(c.labels)), c.matches);
    auto again = LabelSelector::Parse(selector->ToString());
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->ToString(), selector->ToString());
  }
}

TEST(LabelSelector, ReadsTheObjectForm) {
  auto selector = LabelSelector::FromJson(Json::parse(R"({"matchLabels":{"z":"y"},"matchExpressions":[
    {"key":"e","operator":"In","values":["g","f"]},{"key":"n","operator":"NotIn","values":["o"]},
    {"key":"x","operator":"Exists"},{"key":"d","operator":"DoesNotExist","values":null}]})"));
  ASSERT_TRUE(selector.ok()) << selector.error().message;
  EXPECT_EQ(selector->ToString(), "!d,e in (f,g),n!=o,x,z=y");
  EXPECT_TRUE(selector->Matches(Json::parse(R"({"z":"y","e":"f","x":"1"})")));
  EXPECT_TRUE(LabelSelector::FromJson(Json::object())->empty());
}

TEST(LabelSelector, NamesWhatIsWrong) {
  struct Case {
    std::string_view json, message;
  };
  const Case cases[] = {
      {"null", "selector: is no object"},
      {R"({"matchLabels":{"a":1}})", "matchLabels[a]: is no text"},
      {R"({"matchLabels":{"a":"b c"}})", "matchLabels[a]: \"b c\" is no label value"},
      {R"({"matchLabels":{"-a":"b"}})", "matchLabels[-a]: \"-a\" is no label key"},
      {R"({"matchExpressions":[{"key":"a","operator":"Gt"}]})", "matchExpressions[0].operator: \"Gt\" is not In"},
      {R"({"matchExpressions":[{"key":"a","operator":"In"}]})", "matchExpressions[0]: needs values"},
      {R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]})", "takes no values"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.json);
    auto selector = LabelSelector::FromJson(Json::parse(c.json));
    ASSERT_FALSE(selector.ok());
    EXPECT_EQ(selector.code(), Code::kInvalidArgument);
    EXPECT_THAT(selector.error().message, testing::HasSubstr(c.message));
  }
  EXPECT_TRUE(LabelSelector::Parse("a=" + std::string(63, 'b')).ok());
  EXPECT_FALSE(LabelSelector::Parse("a=" + std::string(64, 'b')).ok());
  for (std::string_view text :
       {"X/a", "x.io/-a", "x.io/", "a=b,", "a b", "a in b", "a in (b", "=b", "a=b=c", "a in (b c)", ",", "a,,b", "!"}) {
    EXPECT_FALSE(LabelSelector::Parse(text).ok()) << text;
  }
}

}  // namespace
}  // namespace capi::kube
