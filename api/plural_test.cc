#include "api/plural.h"

#include <gtest/gtest.h>

#include "base/testing/vectors.h"

namespace capi::api {
namespace {

TEST(Plural, FollowsTheVectors) {
  auto reference = [](const Json&, const Json& c) { EXPECT_EQ(Plural(GetString(c, {"id"})), GetString(c, {"want"})); };
  RunVectors("plural.json", reference, [](const Json&, const Json& c) {
    EXPECT_EQ(Plural(GetString(c, {"id"})), GetString(c, {"id"}) == "DNS" ? "dnses" : "octopuses");
  });
}

TEST(Plural, OfWhatIsHardlyAWord) {
  EXPECT_EQ(Plural(""), "s");
  EXPECT_EQ(Plural("y"), "ys");
  EXPECT_EQ(Plural("X"), "xes");
}

TEST(CheckCrdName, WantsThePluralUnlessTheAnnotationIsThere) {
  const Json vectors = LoadVectors("plural.json");
  ASSERT_FALSE(vectors["names"].empty());
  for (const Json& c : vectors["names"]) {
    Json crd = {{"metadata", {{"name", c["name"]}}},
                {"spec", {{"group", c["group"]}, {"names", {{"kind", c["kind"]}}}}}};
    if (c.contains("annotations")) crd["metadata"]["annotations"] = c["annotations"];
    EXPECT_EQ(CheckCrdName(crd).ok(), c["want"] == "ok") << crd;
  }
}

}  // namespace
}  // namespace capi::api
