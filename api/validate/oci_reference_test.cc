#include "api/validate/oci_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/vectors.h"

namespace capi::api {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kDigest = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

TEST(OciReference, IsReadAsThePeerReadsIt_T9) {
  auto reference = [](const Json&, const Json& c) {
    auto got = ParseOciReference(GetString(c, {"url"}));
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->host + "/" + got->repository, GetString(c, {"want", "image"}));
    EXPECT_EQ(got->plain_http, GetBool(c, {"want", "plain_http"}));
    EXPECT_EQ(got->tag.empty() ? GetString(c, {"version"}) : got->tag, GetString(c, {"want", "version"}));
  };
  auto ours = [](const Json&, const Json& c) {
    const std::string text = GetString(c, {"url"}), id = GetString(c, {"id"});
    auto got = ParseOciReference(text);
    if (text.find("@sha256:") != text.npos) {
      ASSERT_TRUE(got.ok()) << got.error().message;
      EXPECT_EQ(got->host + "/" + got->repository + "@" + got->digest, "registry/image@" + std::string(kDigest));
      EXPECT_EQ(got->tag, "");
    } else if (id == "S21" || id == "S23") {
      ASSERT_TRUE(got.ok()) << got.error().message;
      EXPECT_EQ(got->ToString(), "oci://registry/image:v1");
    } else {
      EXPECT_FALSE(got.ok());
    }
  };
  RunVectors("oci-reference.json", reference, ours);
}

// What is right is written as it was, but for the scheme.
TEST(OciReference, IsWrittenAsItCanBeReadAgain_T9) {
  const std::pair<std::string, std::string> cases[] = {
      {"a/b", "oci://a/b"},
      {"https://a/b", "oci://a/b"},
      {"http://a:5000/b/c-d.e_f:v1", "http://a:5000/b/c-d.e_f:v1"},
      {"[::1]:5000/b", "oci://[::1]:5000/b"},
      {"a/b:v1@" + std::string(kDigest), "oci://a/b:v1@" + std::string(kDigest)},
  };
  for (const auto& [text, want] : cases) {
    auto got = ParseOciReference(text);
    ASSERT_TRUE(got.ok()) << text << ": " << got.error().message;
    EXPECT_EQ(got->ToString(), want);
    EXPECT_EQ(ParseOciReference(want)->ToString(), want);
  }
}

TEST(OciReference, SaysWhatIsWrong_F1) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "names no repository"},
      {"image", "names no repository"},
      {"a/", "names no repository"},
      {"/a", "\"\" is no host"},
      {"ftp://a/b", "\"ftp:\" is no host"},
      {"user:s3cret@a/b", "but into OCI_USERNAME and OCI_PASSWORD"},
      {"https://user:s3c/ret@a/b", "but into OCI_USERNAME and OCI_PASSWORD"},
      {"user:s3c/ret@a", "\"a\" is no sha256 digest"},
      {"user:s3c/ret@a:5000", "is no sha256 digest"},
      {"oci://us/er:s3c@s3c@a", "\"a\" is no sha256 digest"},
      {"a/b?token=s3cret", "a query doesn't belong"},
      {"a:port/b", "is no host"},
      {"a:123456/b", "is no host"},
      {"[::1/b", "is no host"},
      {"[g.b]/c", "is no host"},
      {"a b/c", "is no host"},
      {"a/B", "\"B\" is no repository"},
      {"a//b", "is no repository"},
      {"a/b/", "is no repository"},
      {"a/../b", "is no repository"},
      {"a/b..c", "is no repository"},
      {"a/b%2e", "is no repository"},
      {"a/" + std::string(256, 'a'), "is no repository"},
      {"a/b:", "\"\" is no tag"},
      {"a/b:.c", "is no tag"},
      {"a/b:c/d", "is no tag"},
      {"a/b:" + std::string(129, 'a'), "is no tag"},
      {"a/b@sha256:12", "is no sha256 digest"},
      {"a/b@sha512:12", "is no sha256 digest"},
      {"a/b@", "is no sha256 digest"},
  };
  for (const auto& [text, why] : cases) {
    auto got = ParseOciReference(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.code(), Code::kInvalidArgument);
    EXPECT_THAT(got.error().message, HasSubstr(why)) << text;
    EXPECT_THAT(got.error().message, Not(HasSubstr("s3c"))) << text;
  }
}

}  // namespace
}  // namespace capi::api
