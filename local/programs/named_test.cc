#include "local/programs/named.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fetch/oci/image_name.h"

namespace capi::local {
namespace {

using testing::HasSubstr;

const std::string kDigest = "sha256:" + std::string(64, 'a'), kOther = "sha256:" + std::string(64, 'b');

// G9: of several entries that name an image the most exact one counts.
TEST(Named, TheMostExactEntryCounts_G9) {
  const auto all = ReadNamed({"example.com/org/manager=any", "example.com/org/manager:v1=tag",
                              "example.com/org/manager@" + kDigest + "=digest",
                              "example.com/org/manager:v1@" + kDigest + "=both", "manager=hub", "localhost:5000/m=a=b"},
                             "--binary")
                       .value();
  const std::pair<std::string, std::string> cases[] = {
      {"example.com/org/manager", "any"},
      {"example.com/org/manager:v2", "any"},
      {"example.com/org/manager:v1", "tag"},
      {"example.com/org/manager:v1@" + kOther, "tag"},
      {"example.com/org/manager:v1@" + kDigest, "both"},
      {"example.com/org/manager:v2@" + kDigest, "digest"},
      {"example.com/org/manager@" + kDigest, "digest"},
      {"example.com/org/other:v1", ""},
      {"example.org/org/manager:v1", ""},
      {"docker.io/library/manager:v3", "hub"},
      {"manager", "hub"},
      {"localhost:5000/m:v1", "a=b"},
  };
  for (const auto& [image, text] : cases) {
    const Named* found = FindNamed(all, fetch::ParseImageName(image).value());
    EXPECT_EQ(found == nullptr ? "" : found->text, text) << image;
  }
  EXPECT_EQ(FindNamed({}, fetch::ParseImageName("a").value()), nullptr);
}

TEST(Named, WhatIsNoneIsRefused_G9) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"manager"}, "--binary \"manager\": write --binary IMAGE=VALUE"},
      {{"=path"}, "write --binary IMAGE=VALUE"},
      {{"manager="}, "write --binary IMAGE=VALUE"},
      {{"https://a.b/c=path"}, "no name of an image"},
      {{"A B=path"}, "--binary \"A B=path\": "},
      {{"a:v1=x", "docker.io/library/a:v1=y"}, "--binary \"docker.io/library/a:v1=y\": this image is named twice"},
  };
  for (const auto& [entries, words] : cases) {
    auto read = ReadNamed(entries, "--binary");
    ASSERT_FALSE(read.ok()) << words;
    EXPECT_EQ(read.code(), Code::kInvalidArgument);
    EXPECT_THAT(read.error().message, HasSubstr(words));
  }
}

}  // namespace
}  // namespace capi::local
