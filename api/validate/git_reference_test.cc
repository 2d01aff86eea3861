#include "api/validate/git_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "api/stored_release.h"

namespace capi::api {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(GitReference, IsReadInEachForm_T15) {
  struct Case {
    const char *url, *path, *text, *host;
    int port;
    const char* repository;
  };
  const Case cases[] = {
      {"https://Git.example.com/org/r.git", "", "https://git.example.com/org/r.git", "git.example.com", 443,
       "/org/r.git"},
      {"https://git.example.com:443/org/r/", "a/b/", "https://git.example.com/org/r//a/b", "git.example.com", 443,
       "/org/r"},
      {"http://127.0.0.1:8080/r", "./a", "http://127.0.0.1:8080/r//a", "127.0.0.1", 8080, "/r"},
      {"ssh://git.example.com/~me/r.git", ".", "ssh://git@git.example.com/~me/r.git", "git.example.com", 22,
       "~me/r.git"},
      {"ssh://git.example.com:2222/~/r.git", "", "ssh://git@git.example.com:2222/~/r.git", "git.example.com", 2222,
       "~/r.git"},
      {"git.example.com:~me/r.git", "", "ssh://git@git.example.com/~me/r.git", "git.example.com", 22, "~me/r.git"},
      {"git.example.com:/~me/r.git", "", "ssh://git@git.example.com/~me/r.git", "git.example.com", 22, "~me/r.git"},
      {"https://git.example.com/~me/r.git", "", "https://git.example.com/~me/r.git", "git.example.com", 443,
       "/~me/r.git"},
      {"ssh://me@[::1]:2222/r.git", "", "ssh://me@[::1]:2222/r.git", "::1", 2222, "/r.git"},
      {"me@git.example.com:org/r.git", "a", "me@git.example.com:org/r.git//a", "git.example.com", 22, "org/r.git"},
      {"git.example.com:r.git", "", "git@git.example.com:r.git", "git.example.com", 22, "r.git"},
      {"git@git:org/r.git", "", "git@git:org/r.git", "git", 22, "org/r.git"},
      {"git@git.example.com:/srv/r.git", "", "ssh://git@git.example.com/srv/r.git", "git.example.com", 22,
       "/srv/r.git"},
  };
  for (const Case& c : cases) {
    auto got = ParseGitReference({c.url, c.path, {}});
    ASSERT_TRUE(got.ok()) << c.url << ": " << got.error().message;
    EXPECT_EQ(got->ToString(), c.text);
    EXPECT_EQ(got->host, c.host);
    EXPECT_EQ(got->port, c.port);
    EXPECT_EQ(got->path, c.repository);
  }
}

TEST(GitReference, IsRefusedWithWhatIsWrong_T15) {
  for (const char* url : {"",
                          "git",
                          "/srv/r.git",
                          "file:///srv/r.git",
                          "git://git.example.com/r",
                          "https://",
                          "https://git.example.com",
                          "https://git.example.com/",
                          "https://git.example.com:0/r",
                          "https://git.example.com:99999/r",
                          "https://:80/r",
                          "https://[fe80::12/r",
                          "https://[/r",
                          "ssh://git@[::1/r",
                          "https://me@git.example.com/r",
                          "https://me:s3cret@git.example.com/r",
                          "https://git.example.com/a/../r",
                          "https://git.example.com/a//r",
                          "https://git.example.com/r?x=y",
                          "https://git.example.com/r#x",
                          "https://git.example.com/%72",
                          "https://git.example.com/r'x",
                          "ssh://me:s3cret@git.example.com/r",
                          "ssh://-oProxyCommand=x/r",
                          "ssh://git.example.com/-r x",
                          "-oProxyCommand=x:r",
                          "git.example.com:-r",
                          "git.example.com:r;x",
                          "robot:s3cret@git.example.com/org/r.git",
                          "me@robot:s3cret@git.example.com/org/r.git",
                          "https:/git.example.com/s3cret",
                          "HTTP:git.example.com/s3cret",
                          "ssh:/git@git.example.com/r",
                          "git:/git.example.com/r",
                          "file:/srv/r.git",
                          "ftp://git.example.com/r"}) {
    std::string field;
    auto got = ParseGitReference({url, "", {}}, &field);
    ASSERT_FALSE(got.ok()) << url;
    EXPECT_EQ(field, "url");
    EXPECT_THAT(got.error().message, HasSubstr("write https://"));
    EXPECT_THAT(got.error().message, Not(HasSubstr("s3cret")));
  }
  for (const char* path : {"/", "/a", "a/../b", "..", "a//b", "a/./b", "a\nb"}) {
    std::string field;
    auto got = ParseGitReference({"https://git.example.com/r", path, {}}, &field);
    ASSERT_FALSE(got.ok()) << path;
    EXPECT_EQ(field, "path");
    EXPECT_THAT(got.error().message, HasSubstr("no folder"));
  }
}

// T12: of what was fetched, that which the named repository has, and its folder; of what somebody put there any.
TEST(StoredRelease, IsOfTheGitRepositoryThatTheSpecNames_T12_T15) {
  const std::tuple<GitSource, const char*, bool, bool> cases[] = {
      {{"https://git.example.com/r.git", "", {}}, "https://git.example.com/r.git v1.2.3", true, true},
      {{"https://Git.example.com:443/r.git/", "./", {}}, "https://git.example.com/r.git v1.2.3", true, true},
      {{"https://git.example.com/r.git", "a/b/", {}}, "https://git.example.com/r.git//a/b v1.2.3", true, true},
      {{"https://git.example.com/r.git", "a", {}}, "https://git.example.com/r.git//a/b v1.2.3", true, false},
      {{"https://git.example.com/r.git", "", {}}, "https://git.example.com/r.git//a v1.2.3", true, false},
      {{"https://git.example.com/other.git", "", {}}, "https://git.example.com/r.git v1.2.3", true, false},
      {{"http://git.example.com/r.git", "", {}}, "https://git.example.com/r.git v1.2.3", true, false},
      {{"https://git.example.com/r.git", "", {}}, "oci://git.example.com/r v1.2.3", true, false},
      {{"https://git.example.com/r.git", "", {}}, "", true, false},
      {{"https://git.example.com/r.git", "", {}}, "", false, true},
  };
  for (const auto& [git, source, fetched, its] : cases) {
    Provider provider;
    provider.spec.fetch_config.emplace().git = git;
    StoredRelease stored{"ns", "a", "v1.2.3", *Version::Parse("v1.2.3"), "u/1"};
    stored.source = source;
    stored.fetched = fetched;
    EXPECT_EQ(IsOfItsSource(stored, provider), its) << git.url << " " << git.path << " " << source;
  }
}

}  // namespace
}  // namespace capi::api
