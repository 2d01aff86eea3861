#include "fetch/git/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/testing.h"

namespace capi::fetch {
namespace {

using testing::HasSubstr;
using testing::Not;

api::GitReference Of(const char* url) { return *api::ParseGitReference({url, "", {}}); }

const api::GitReference kHttps = Of("https://git.example.com/r.git"), kSsh = Of("git@git.example.com:r.git");

TEST(GitCredentials, AreThoseOfFluxAndOfOtherSources_T15) {
  EXPECT_EQ(ReadGitCredentials(kHttps, {})->Authorization(), "");
  EXPECT_EQ(ReadGitCredentials(kHttps, {{"username", "me\n"}, {"password", "pw\n"}})->Authorization(),
            "Basic bWU6cHc=");
  EXPECT_EQ(ReadGitCredentials(kHttps, {{"bearerToken", "t"}})->Authorization(), "Bearer t");
  EXPECT_EQ(ReadGitCredentials(kHttps, {{"github-token", "t"}})->username, "x-access-token");
  EXPECT_EQ(ReadGitCredentials(kHttps, {{"gitlab-access-token", "t"}})->username, "oauth2");
  const std::string ca = http_testing::TestCa().pem();
  EXPECT_EQ(ReadGitCredentials(kHttps, {{"caFile", ca}})->ca, ca);
  EXPECT_EQ(ReadGitCredentials(kHttps, {{"ca.crt", ca}})->ca, ca);
  auto ssh =
      ReadGitCredentials(kSsh, {{"identity", "i"}, {"identity.pub", "p"}, {"known_hosts", "k"}, {"password", "w"}});
  ASSERT_TRUE(ssh.ok());
  EXPECT_EQ(ssh->identity + ssh->known_hosts + ssh->passphrase, "ikw");
}

TEST(GitCredentials, WhatDoesNotFitIsNamed_T15) {
  struct Case {
    const api::GitReference& reference;
    std::map<std::string, std::string> secret;
    const char* why;
  };
  const Case cases[] = {
      {kHttps, {{"token", "s3cret"}}, "key token is none that is known: of https the keys are bearerToken, ca.crt"},
      {kHttps, {{"identity", "s3cret"}}, "key identity is of the other way"},
      {kSsh, {{"username", "s3cret"}}, "key username is of the other way"},
      {kHttps, {{"username", "me"}}, "no key password"},
      {kHttps, {{"password", "s3cret"}}, "no key username"},
      {kHttps, {{"password", "\n"}}, "password is empty"},
      {kHttps, {{"bearerToken", "s3\ncret"}}, "bearerToken has more than one line"},
      {kHttps, {{"username", "a:b"}, {"password", "s3cret"}}, "username has a colon"},
      {kHttps, {{"username", "a"}, {"password", "s3cret"}, {"bearerToken", "b"}}, "both password and bearerToken"},
      {kHttps, {{"username", "a"}, {"bearerToken", "s3cret"}}, "both username and bearerToken"},
      {kHttps, {{"ca.crt", "s3cret"}}, "key ca.crt has no certificate"},
      {kHttps, {{"caFile", "-----BEGIN CERTIFICATE-----\ns3\n-----END CERTIFICATE-----\n"}}, "key caFile has no"},
      {kSsh, {}, "needs the key identity"},
      {kSsh, {{"identity", "s3cret"}}, "needs the key known_hosts"},
  };
  for (const Case& c : cases) {
    auto got = ReadGitCredentials(c.reference, c.secret);
    ASSERT_FALSE(got.ok()) << c.why;
    EXPECT_EQ(got.code(), Code::kUnauthenticated);
    EXPECT_THAT(got.error().message, HasSubstr(c.why));
    EXPECT_THAT(got.error().message, Not(HasSubstr("s3")));
  }
}

}  // namespace
}  // namespace capi::fetch
