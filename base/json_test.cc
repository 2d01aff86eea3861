#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_filter.h"
#include "base/json_memory.h"

namespace capi {
namespace {

using ::testing::HasSubstr;

TEST(JsonText, ParsesAndWrites) {
  EXPECT_EQ(
      ToJsonText(*ParseJson(R"( {"b": [1, -2, 1.5, true, null, "é\u0041"], "a": {}, "b2": 18446744073709551615} )")),
      R"({"a":{},"b":[1,-2,1.5,true,null,"éA"],"b2":18446744073709551615})");
  EXPECT_EQ(ToJsonText(*ParseJson(R"({"a":1,"a":2})")), R"({"a":2})");
  EXPECT_EQ(ToJsonText(Json("\xff")), "\"\xef\xbf\xbd\"");
}

TEST(JsonText, RefusesWithoutQuotingTheInput) {
  for (std::string_view bad : {"", "{", "[1,]", "{\"a\":secret}", "\"\xff\"", "1 2", "nul", "{'a':1}", "\"\n\""}) {
    auto got = ParseJson(bad);
    ASSERT_FALSE(got.ok()) << bad;
    EXPECT_EQ(got.code(), Code::kInvalidArgument);
    EXPECT_THAT(got.error().message, Not(HasSubstr("secret")));
    EXPECT_THAT(got.error().message, HasSubstr("not JSON: parse error at line"));
  }
}

TEST(JsonText, RefusesDeepNesting) {
  auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(ParseJson(nested(1000)).ok());
  EXPECT_THAT(ParseJson(nested(1001)).error().message, HasSubstr("deeper than 1000"));
  EXPECT_EQ(ParseJson(std::string(1'000'000, '[')).code(), Code::kInvalidArgument);
  EXPECT_TRUE(ParseJson("\"" + std::string(5000, '[') + "\\\"[\"").ok());  // in a string they don't count
}

TEST(JsonText, KeepsWhatTheFilterSays) {
  using Event = Json::parse_event_t;
  auto keep = [](int depth, Event event, const Json& value) {
    return event != Event::key || depth != 1 || value == "a";
  };
  EXPECT_EQ(*ParseJson(R"({"a": {"b": 1}, "c": {"a": [2]}, "d": 3})", keep), Json::parse(R"({"a": {"b": 1}})"));
  EXPECT_THAT(ParseJson(R"({"c": {"a": [2})", keep).error().message, HasSubstr("not JSON: parse error at line"));
  EXPECT_THAT(ParseJson(std::string(1001, '['), keep).error().message, HasSubstr("deeper than 1000"));
}

TEST(JsonPathHelpers, FindAndGet) {
  Json value = {{"a", {{"b", {{"s", "x"}, {"i", 7}, {"t", true}, {"f", 1.5}}}}}, {"l", {1}}};
  EXPECT_EQ(*Find(value, {"a", "b", "i"}), 7);
  EXPECT_EQ(Find(value, {"a", "none", "i"}), nullptr);
  EXPECT_EQ(Find(value, {"l", "0"}), nullptr);
  EXPECT_EQ(Find(value, {}), &value);
  EXPECT_EQ(GetString(value, {"a", "b", "s"}), "x");
  EXPECT_EQ(GetString(value, {"a", "b", "i"}, "other type"), "other type");
  EXPECT_EQ(GetInt(value, {"a", "b", "i"}), 7);
  EXPECT_EQ(GetInt(value, {"a", "b", "f"}, -1), -1);
  EXPECT_TRUE(GetBool(value, {"a", "b", "t"}));
  EXPECT_TRUE(GetBool(value, {"none"}, true));
}

TEST(Json, MemoryCountsTextsKeysAndAllThatIsWithin) {
  const size_t one = MemoryOf(Json(1));
  EXPECT_EQ(MemoryOf(Json(std::string(1000, 'x'))), one + 1000);
  EXPECT_EQ(MemoryOf(Json({1, 2, 3})), 4 * one);
  EXPECT_EQ(MemoryOf(Json({{"key", Json::array({Json::array()})}})), 4 * one + 3);
}

TEST(JsonPathHelpers, EnsureMakesTheWay) {
  Json value = {{"a", 1}};
  Ensure(value, {"a", "b", "c"}) = "x";
  Ensure(value, {"d"});
  EXPECT_EQ(value.dump(), R"({"a":{"b":{"c":"x"}},"d":null})");
}

}  // namespace
}  // namespace capi
