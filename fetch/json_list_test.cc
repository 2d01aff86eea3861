#include "fetch/json_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/testing/cost.h"

namespace capi::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const ListShape kTop{.member = "", .names = {"id", "in"}};
const ListShape kMember{.member = "list", .names = {"id", "in"}, .within = true};
const ListShape kTexts{.member = "list", .names = {}};

std::vector<std::string> Entries(std::string_view text, const ListShape& shape) {
  std::vector<std::string> entries;
  auto found = ReadList(text, shape, [&](const Json& entry) { entries.push_back(ToJsonText(entry)); });
  EXPECT_TRUE(found.ok() && *found == Listed::kList) << text;
  return entries;
}

TEST(ReadList, KeepsOfEachEntryWhatIsNamed) {
  EXPECT_THAT(Entries(R"([{"id":1,"no":[{"id":2}],"in":{"id":3}},5,[{"id":4}],{}])", kTop),
              ElementsAre(R"({"id":1})", "{}"));
  EXPECT_THAT(
      Entries(R"({"id":0,"no":[{"id":1}],"list":[{"id":2,"in":{"id":3,"no":4,"in":{"id":5}},"no":6},7]})", kMember),
      ElementsAre(R"({"id":2,"in":{"id":3}})"));
  EXPECT_THAT(Entries(R"({"no":["a"],"list":["b",["c"],{"list":["d"]},5]})", kTexts), ElementsAre("\"b\"", "5"));
}

TEST(ReadList, SaysWhatIsInItsPlace) {
  const std::pair<const char*, Listed> cases[] = {
      {R"({"list":[]})", Listed::kList},
      {R"({"list":null})", Listed::kNull},
      {R"({"list":{}})", Listed::kOther},
      {R"({"list":"a"})", Listed::kOther},
      {R"({"a":{"list":[]}})", Listed::kNothing},
      {R"([{"list":[]}])", Listed::kNothing},
      {"[]", Listed::kNothing},
      {"5", Listed::kNothing},
  };
  for (const auto& [text, want] : cases) {
    for (const ListShape* shape : {&kMember, &kTexts}) {
      auto found = ReadList(text, *shape, [](const Json&) { ADD_FAILURE(); });
      ASSERT_TRUE(found.ok()) << text;
      EXPECT_EQ(*found, want) << text;
    }
  }
  EXPECT_EQ(*ReadList("{}", kTop, [](const Json&) {}), Listed::kOther);
  auto twice = ReadList(R"({"list":[],"list":[]})", kMember, [](const Json&) {});
  EXPECT_EQ(twice.code(), Code::kInvalidArgument);
  EXPECT_THAT(twice.error().message, HasSubstr("has \"list\" twice"));
  EXPECT_THAT(ReadList("{", kMember, [](const Json&) {}).error().message, HasSubstr("not JSON"));
}

std::string Repeat(std::string_view text, size_t size) {
  std::string out;
  while (out.size() < size) out += text;
  return out;
}

TEST(ReadList, TakesLittleMemoryForAHostileList_F2) {
  constexpr size_t kSize = 1 << 20;
  for (std::string_view entry : {"{},", "[],", "1,", R"({"id":{}},)", R"({"id":"a","in":{"id":"b"}},)"}) {
    SCOPED_TRACE(entry);
    const std::string list = "[" + Repeat(entry, kSize) + "{}]", in_member = R"({"list":)" + list + "}",
                      in_other = R"({"other":)" + list + "}";
    const std::pair<const std::string*, const ListShape*> cases[] = {
        {&list, &kTop}, {&in_member, &kMember}, {&in_member, &kTexts}, {&in_other, &kMember}};
    for (const auto& [text, shape] : cases) {
      Cost cost = Measure([&, text = text, shape = shape] {
        return ReadList(*text, *shape, [](const Json&) {}).ok() ? "ok" : "not ok";
      });
      EXPECT_EQ(cost.answer, "ok");
      if (kMeasuresCost) EXPECT_LT(cost.bytes, 4 * kSize);
    }
  }
}

}  // namespace
}  // namespace capi::fetch
