#include "api/version.h"

#include <gtest/gtest.h>

#include "base/testing/vectors.h"

namespace capi::api {
namespace {

using ParseFunction = Result<Version> (*)(std::string_view);

void CheckParser(const std::string& file, ParseFunction parse) {
  RunVectors(file, [&](const Json&, const Json& c) {
    auto version = parse(c["input"].get<std::string>());
    ASSERT_EQ(version.ok(), c.contains("want"));
    if (version.ok()) {
      EXPECT_EQ(version->ToString(), "v" + c["want"].get<std::string>());
    } else {
      EXPECT_EQ(version.code(), Code::kInvalidArgument);
      EXPECT_EQ(version.error().message, c["error"].get<std::string>());
    }
  });
}

TEST(Version, StrictVectors) { CheckParser("semver-strict.json", &Version::Parse); }

TEST(Version, TolerantVectors) { CheckParser("semver-tolerant.json", &Version::ParseTolerant); }

TEST(Version, CompareVectors) {
  RunVectors("semver-compare.json", [](const Json&, const Json& c) {
    for (auto [parser, parse] :
         {std::pair("strict", &Version::Parse), std::pair("tolerant", &Version::ParseTolerant)}) {
      auto a = parse(c["a"].get<std::string>()), b = parse(c["b"].get<std::string>());
      ASSERT_TRUE(a.ok() && b.ok());
      int want = c[parser];
      EXPECT_EQ(*a < *b, want < 0);
      EXPECT_EQ(*a > *b, want > 0);
      EXPECT_EQ(*a == *b, want == 0);
      EXPECT_EQ(*b<*a, want> 0);
    }
  });
}

TEST(Version, HugeNumericIdentifiersCompareByValue) {
  auto a = Version::Parse("v1.0.0-99999999999999999999998"), b = Version::Parse("v1.0.0-99999999999999999999999");
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_LT(*a, *b);
}

// I12
TEST(SameVersion, IgnoresTheLetterV) {
  struct Case {
    std::string_view a, b;
    bool same;
  };
  const Case cases[] = {
      {"v1.2.3", "1.2.3", true},       {"v1.2.3", "v1.2.3", true},
      {"v1.2.3", "v1.2.4", false},     {"v1.2.3-rc.1", "1.2.3-rc.1", true},
      {"v1.2.3+a", "v1.2.3+b", false}, {"", "", true},
      {"", "v1.2.3", false},           {"latest", "latest", true},
      {"latest", "vlatest", false},
  };
  for (const Case& c : cases) EXPECT_EQ(SameVersion(c.a, c.b), c.same) << c.a << " " << c.b;
}

TEST(Version, SameSeriesIsMajorAndMinor) {
  Version a = *Version::Parse("v1.2.3"), b = *Version::Parse("v1.2.9-rc.1"), c = *Version::Parse("v1.3.3");
  EXPECT_TRUE(a.SameSeries(b));
  EXPECT_FALSE(a.SameSeries(c));
}

}  // namespace
}  // namespace capi::api
