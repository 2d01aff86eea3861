// Which git repositories the operator asks (T2, T11, T15).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "fetch/git/git_testing.h"
#include "operator/act/install/sources.h"

namespace capi::ops {
namespace {

using testing::HasSubstr;

api::Provider Named(const std::string& url, const std::string& path = "") {
  api::Provider provider;
  provider.id = {api::ProviderType::kInfrastructure, "ns", "aws"};
  provider.spec.fetch_config.emplace().git = api::GitSource{url, path, {}};
  return provider;
}

// A list takes the place of both; a port that isn't the scheme's own has to be named.
TEST(GitSource, ASpecNamesHostsThatTheOperatorAllowsAlone_T2) {
  const std::tuple<std::vector<std::string>, const char*, bool> cases[] = {
      {{}, "https://github.com/o/r", true},
      {{}, "https://gitlab.com/o/r.git", true},
      {{}, "http://github.com/o/r", true},
      {{}, "https://github.com:8443/o/r", false},
      {{}, "https://github.com.example.com/o/r", false},
      {{}, "https://git.example.com/r", false},
      {{}, "https://127.0.0.1/r", false},
      {{"git.example.com"}, "https://git.example.com/r", true},
      {{"git.example.com"}, "https://github.com/o/r", false},
      {{"git.example.com"}, "https://git.example.com:8443/r", false},
      {{"git.example.com:8443"}, "https://git.example.com:8443/r", true},
      {{"*.example.com"}, "https://git.example.com/r", true},
      {{"git.example.com"}, "http://git.example.com:443/r", false},
      {{}, "git@github.com:o/r.git", true},
      {{}, "ssh://git@github.com:443/o/r.git", false},
      {{}, "git@git.example.com:r.git", false},
      {{"git.example.com"}, "git@git.example.com:r.git", true},
      {{"git.example.com"}, "ssh://git@git.example.com:2222/r.git", false},
      {{"git.example.com:2222"}, "ssh://git@git.example.com:2222/r.git", true},
      {{"git.example.com:443"}, "git@git.example.com:r.git", false},
  };
  const Settings settings;
  for (const auto& [allowed, url, may] : cases) {
    auto opened = Sources(settings, {.github = {}, .allowed = allowed}).Open(Named(url), {});
    EXPECT_EQ(opened.ok(), may) << url;
    const std::string why = opened.ok() ? "" : opened.error().message;
    EXPECT_THAT(why, HasSubstr(may ? "" : "spec.fetchConfig.git.url: ")) << url;
    EXPECT_THAT(why, HasSubstr(may ? "" : "isn't asked: the operator was started without")) << url;
  }
}

TEST(GitSource, WhatIsWrongIsTheFieldsThatHasIt) {
  const Settings settings;
  const Sources sources(settings, {});
  EXPECT_THAT(sources.Open(Named("git"), {}).error().message, HasSubstr("spec.fetchConfig.git.url: "));
  EXPECT_THAT(sources.Open(Named("https://github.com/o/r", ".."), {}).error().message,
              HasSubstr("spec.fetchConfig.git.path: "));
}

// I2: with the folder that the operator was given, too; of a repository within, since it is in the list.
TEST(GitSource, ItIsAskedWithItsOwnSecretAlone_T15) {
  fetch::GitStandIn server({.authorization = "Bearer s3cret"});
  server.Release("v1.0.0", fetch::AwsRelease("a"));
  const std::string host = server.url().substr(7, server.url().find("/org") - 7);
  const Settings settings;
  const Sources sources(settings, {.github = {}, .allowed = {host}, .folder = "/releases"});
  auto opened = sources.Open(Named(server.url(), "a"), {}, {{"bearerToken", "s3cret"}});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_FALSE((*opened)->IsLocal());
  auto release = fetch::GetRelease({}, **opened, *api::Version::Parse("v1.0.0"));
  ASSERT_TRUE(release.ok()) << release.error().message;
  EXPECT_EQ(release->source, server.url() + "//a v1.0.0");
  auto without = *sources.Open(Named(server.url(), "a"), {.github_token = "s3cret"});
  EXPECT_EQ(without->Versions({}).code(), Code::kUnauthenticated);
}

}  // namespace
}  // namespace capi::ops
