#include "api/validate/folder_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::api {
namespace {

using testing::HasSubstr;

TEST(ParseHttpFolderUrl, TakesApartWhatNamesAVersionAndAFile_I18) {
  const std::pair<std::string_view, HttpFolderUrl> cases[] = {
      {"https://files.example.com/capi/aws/latest/infrastructure-components.yaml",
       {"https://files.example.com/capi/aws", "latest", "infrastructure-components.yaml"}},
      {"https://Files.example.com:8443/v2.1.0+a/c.yaml", {"https://files.example.com:8443", "v2.1.0+a", "c.yaml"}},
      {"https://files.example.com/releases/2.1.0/c.yaml", {"https://files.example.com/releases", "2.1.0", "c.yaml"}},
  };
  for (const auto& [url, want] : cases) {
    auto got = ParseHttpFolderUrl(url);
    ASSERT_TRUE(got.ok()) << url << ": " << got.error().message;
    EXPECT_EQ(got->base, want.base);
    EXPECT_EQ(got->version, want.version);
    EXPECT_EQ(got->file, want.file);
  }
}

TEST(ParseHttpFolderUrl, RefusesTheRest_I18) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"http://files.example.com/aws/latest/c.yaml", "doesn't begin with https://"},
      {"/releases/aws/latest/c.yaml", "doesn't begin with https://"},
      {"https://u:p@files.example.com/aws/latest/c.yaml", "a user or a password can't stand there"},
      {"https://u:p/w@files.example.com/aws/latest/c.yaml", "a user or a password can't stand there"},
      {"https:///aws/latest/c.yaml", "has no host"},
      {"https://files.example.com/aws/../latest/c.yaml", "leads elsewhere"},
      {"https://files.example.com/aws//latest/c.yaml", "an empty part"},
      {"https://files.example.com/a%2Fb/latest/c.yaml", "characters that no"},
      {"https://files.example.com/aws/latest/c.yaml?x=1", "has a query"},
      {"https://files.example.com/aws/newest/c.yaml", "doesn't end with a version"},
      {"https://files.example.com/aws/latest/", "an empty part"},
      {"https://files.example.com/aws/latest/c.json", ".yaml file"},
      {"https://files.example.com/c.yaml", "doesn't end with a version"},
      {"https://www.github.com/o/r/releases/latest/c.yaml", "like one of GitHub"},
      {"https://githb.com/o/r/releases/latest/c.yaml", "like one of GitHub"},
      {"https://files.example.com/o/r/releases/download/v1.0.0/c.yaml", "like one of GitHub"},
      {"https://gitlab.example.com/g/p/v1.0.0/c.yaml", "like one of GitHub or GitLab"},
      {"https://code.example.com/api/v4/projects/1/packages/generic/v1.0.0/c.yaml", "like one of GitHub or GitLab"},
  };
  for (const auto& [url, words] : cases) {
    auto got = ParseHttpFolderUrl(url);
    ASSERT_FALSE(got.ok()) << url;
    EXPECT_THAT(got.error().message, HasSubstr(words)) << url;
  }
}

}  // namespace
}  // namespace capi::api
