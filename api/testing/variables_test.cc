#include "api/testing/variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::api {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(ReleaseVariables, AreFilledInAsTheirFormSays) {
  const VariableValues values = {{"A", "one"}};
  struct Case {
    std::string_view text, filled;
  };
  const Case cases[] = {
      {"x ${A} y", "x one y"},
      {"${A}${A}", "oneone"},
      {"${A:=two}", "one"},
      {"${B:=15m}", "15m"},
      {"${B:-15m}", "15m"},
      {"${B=9440}", "9440"},
      {"${B-9440}", "9440"},
      {"${B:=:8443}", ":8443"},
      {"${B:=-1}", "-1"},
      {"${B:=}", ""},
      {"${B}", ""},
      {"${ROLE/#arn/eks.amazonaws.com/role-arn: arn}", ""},
      {"[${B:=${A}}]", "[one]"},
      {"[${B:=${C:=three}${A}}]", "[threeone]"},
      {"${A", "${A"},
      {"$A ${} {A}", "$A ${} {A}"},
  };
  for (const auto& c : cases) EXPECT_EQ(FillVariables(c.text, values), c.filled) << c.text;
}

TEST(ReleaseVariables, WithoutADefaultAreRequired) {
  EXPECT_THAT(RequiredVariablesOf("${A} ${B:=${C}} ${D=} ${ROLE/#arn/role: arn}"),
              ElementsAre(Pair("A", "dGVzdA=="), Pair("C", "dGVzdA==")));
}

// What a release is rendered with to see each of its variables at work.
TEST(ReleaseVariables, GetOtherValuesThanTheirDefaults) {
  EXPECT_THAT(AllVariablesOf("${A:=false} ${B:='true'} ${C:=10} ${D:=:8443} ${E:=15m} ${F:=x} ${G:=} ${H:=${I}}"
                             " ${ROLE/#arn/role: arn} ${ROLE:=\"\"}"),
              ElementsAre(Pair("A", "true"), Pair("B", "false"), Pair("C", "7"), Pair("D", ":9443"), Pair("E", "20m"),
                          Pair("F", "x-other"), Pair("G", "dGVzdA=="), Pair("H", "dGVzdA=="), Pair("I", "dGVzdA=="),
                          Pair("ROLE", "arn:aws:iam::1:role/other")));
}

}  // namespace
}  // namespace capi::api
