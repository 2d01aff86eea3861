#include "api/version.h"

#include <gtest/gtest.h>

#include "api/vectors.h"

namespace capi::api {
namespace {

using ParseFunction = Result<Version> (*)(std::string_view);

void CheckParser(const Json& cases, ParseFunction parse) {
  for (const Json& c : cases) {
    SCOPED_TRACE(c["id"].get<std::string>() + " " + c["input"].dump());
    auto version = parse(c["input"].get<std::string>());
    ASSERT_EQ(version.ok(), c.contains("want"));
    if (version.ok()) {
      EXPECT_EQ(version->ToString(), "v" + c["want"].get<std::string>());
    } else {
      EXPECT_EQ(version.code(), Code::kInvalidArgument);
      EXPECT_EQ(version.error().message, c["error"].get<std::string>());
    }
  }
}

TEST(Version, StrictVectors) {
  CAPI_LOAD_VECTORS(cases, "semver-strict.json");
  CheckParser(cases, &Version::Parse);
}

TEST(Version, TolerantVectors) {
  CAPI_LOAD_VECTORS(cases, "semver-tolerant.json");
  CheckParser(cases, &Version::ParseTolerant);
}

TEST(Version, CompareVectors) {
  CAPI_LOAD_VECTORS(cases, "semver-compare.json");
  for (const Json& c : cases) {
    SCOPED_TRACE(c["id"].get<std::string>());
    for (ParseFunction parse : {&Version::Parse, &Version::ParseTolerant}) {
      auto a = parse(c["a"].get<std::string>()), b = parse(c["b"].get<std::string>());
      ASSERT_TRUE(a.ok() && b.ok());
      int want = c["strict"];
      EXPECT_EQ(*a < *b, want < 0);
      EXPECT_EQ(*a > *b, want > 0);
      EXPECT_EQ(*a == *b, want == 0);
      EXPECT_EQ(*b<*a, want> 0);
    }
  }
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
