#include "fetch/git/git.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "base/testing/cost.h"
#include "fetch/git/git_testing.h"

namespace capi::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

api::Version V(std::string_view text) { return *api::Version::Parse(text); }

std::vector<std::string> Texts(const Result<std::vector<api::Version>>& versions) {
  if (!versions.ok()) return {versions.error().message};
  std::vector<std::string> out;
  for (const api::Version& version : *versions) out.push_back(version.ToString());
  return out;
}

// Each way in which a server may answer.
class Git : public testing::TestWithParam<GitStandInOptions> {};
INSTANTIATE_TEST_SUITE_P(Servers, Git,
                         testing::Values(GitStandInOptions{}, GitStandInOptions{.filters = false},
                                         GitStandInOptions{.speaks_v2 = false}),
                         [](const auto& one) {
                           return !one.param.speaks_v2 ? "Version0" : one.param.filters ? "Filters" : "SendsAll";
                         });

TEST_P(Git, TagsAreReleases_T15_I12) {
  GitStandIn server(GetParam());
  server.Release("v1.0.0", AwsRelease());
  server.Release("v1.1.0", AwsRelease("", "two"), true);
  server.Release("1.2.0", AwsRelease("", "three"));
  server.Release("v1.3.0-rc.1+build.5", AwsRelease("", "four"));
  for (const char* other : {"latest", "test/v1.0.0", "v1", "v1.0"}) server.Release(other, {{"x", other}});
  auto repository = server.Open();
  EXPECT_FALSE(repository->IsLocal());
  EXPECT_EQ(repository->Describe(), server.url());
  EXPECT_THAT(Texts(repository->Versions({})), ElementsAre("v1.0.0", "v1.1.0", "v1.2.0", "v1.3.0-rc.1+build.5"));
  const std::pair<const char*, const char*> marks[] = {
      {"v1.0.0", "one"}, {"v1.1.0", "two"}, {"v1.2.0", "three"}, {"v1.3.0-rc.1+build.5", "four"}};
  for (const auto& [version, mark] : marks) {
    auto release = GetRelease({}, *repository, V(version));
    ASSERT_TRUE(release.ok()) << release.error().message;
    EXPECT_EQ(release->components, AwsRelease("", mark)["infrastructure-components.yaml"]);
    EXPECT_EQ(release->source, server.url() + " " + version);
  }
}

TEST_P(Git, FilesAreOfTheFolder_T15) {
  GitStandIn server(GetParam());
  auto files = AwsRelease("releases/aws");
  files["metadata.yaml"] = "of something else";
  files["releases/aws/metadata.yaml.sig"] = "c2ln\n";
  files["releases/aws/README.md"] = std::string(100'000, 'x');
  files["releases/plain/metadata.yaml"] = "plain";
  files["releases/plain/components.yaml"] = "kind: Plain\n";
  files["releases/plain/components.yaml.sig"] = "cGxhaW4=\n";
  server.Release("v1.0.0", files);
  auto repository = server.Open("releases/aws");
  auto release = GetRelease({}, *repository, V("v1.0.0"));
  ASSERT_TRUE(release.ok()) << release.error().message;
  EXPECT_EQ(release->metadata, files["releases/aws/metadata.yaml"]);
  EXPECT_EQ(release->source, server.url() + "//releases/aws v1.0.0");
  EXPECT_EQ(*repository->File({}, V("v1.0.0"), "metadata.yaml.sig"), "c2ln\n");
  auto none = repository->File({}, V("v1.0.0"), "cluster-template.yaml");
  EXPECT_EQ(none.code(), Code::kNotFound);
  EXPECT_THAT(none.error().message, HasSubstr("folder releases/aws has no file of that name; it has README.md"));

  auto plain = server.Open("releases/plain");
  EXPECT_EQ(*plain->File({}, V("v1.0.0"), plain->ComponentsFile()), "kind: Plain\n");
  EXPECT_EQ(*plain->File({}, V("v1.0.0"), plain->ComponentsFile() + ".sig"), "cGxhaW4=\n");

  for (const auto& [path, why] : {std::pair{"releases/gcp", "has no folder releases/gcp"},
                                  std::pair{"metadata.yaml", "has no folder metadata.yaml"}}) {
    auto other = server.Open(path)->File({}, V("v1.0.0"), "metadata.yaml");
    EXPECT_EQ(other.code(), Code::kNotFound);
    EXPECT_THAT(other.error().message, HasSubstr(why));
  }
  auto version = repository->File({}, V("v9.9.9"), "metadata.yaml");
  EXPECT_EQ(version.code(), Code::kNotFound);
  EXPECT_THAT(version.error().message, HasSubstr("there is no tag v9.9.9"));
}

// Between the look at the tags and the release: of the old one nothing has been read.
TEST_P(Git, ATagMayMove_T15) {
  GitStandIn server(GetParam());
  server.Release("v1.0.0", AwsRelease());
  auto repository = server.Open();
  EXPECT_THAT(Texts(repository->Versions({})), ElementsAre("v1.0.0"));
  server.Git("tag -d v1.0.0");
  server.Git("update-ref -d refs/heads/main");
  server.Release("v1.0.0", AwsRelease("", "two"));
  auto release = GetRelease({}, *repository, V("v1.0.0"));
  // Version 2 gives what the tag named, or says that it can't: the next look sees it.
  if (GetParam().speaks_v2 && !release.ok() && release.code() == Code::kUnavailable) return;
  ASSERT_TRUE(release.ok()) << release.error().message;
  EXPECT_THAT(release->components, HasSubstr(GetParam().speaks_v2 ? "one" : "two"));
}

// Of a version the server is asked once, and of its files alone where it can leave out others.
TEST(GitRequests, AreFew_T15) {
  GitStandIn server;
  auto files = AwsRelease();
  files["large"] = std::string();
  for (int i = 0; i < 1'000'000; ++i) files["large"] += static_cast<char>(i * 2654435761U >> 13);
  for (int i = 0; i < 9; ++i) files["large" + std::to_string(i)] = files["large"] + std::to_string(i);
  server.Release("v1.0.0", files);
  auto repository = server.Open();
  auto release = GetRelease({}, *repository, V("v1.0.0"), false);
  ASSERT_TRUE(release.ok()) << release.error().message;
  const std::string path = "/org/repository.git";
  EXPECT_THAT(server.seen(), ElementsAre("GET " + path + "/info/refs", "POST " + path + "/git-upload-pack",
                                         "GET " + path + "/info/refs", "POST " + path + "/git-upload-pack",
                                         "POST " + path + "/git-upload-pack"));
}

// Of so many bytes, which nothing packs.
std::string Noise(size_t size, unsigned seed) {
  std::string noise(size, ' ');
  for (char& byte : noise) byte = static_cast<char>((seed = seed * 1664525U + 1013904223U) >> 24);
  return noise;
}

// Three minor versions above v1.0.0, of two releases each, with that beside the metadata.
void GiveNewer(GitStandIn& server, const std::map<std::string, std::string>& beside) {
  for (const char* version : {"v1.0.0", "v1.1.0", "v1.1.1", "v1.2.0", "v1.2.1", "v1.3.0", "v1.3.1"}) {
    auto files = beside;
    files["metadata.yaml"] =
        std::string("releaseSeries:\n- {major: 1, minor: ") + version[3] + ", contract: v1beta1}\n";
    for (auto& [name, text] : files) text += std::string("# ") + version + "\n";
    server.Release(version, files);
  }
}

// U12: nothing is installed of it, and so no components are asked for where the server can leave them out.
TEST(GitRequests, ALookForNewerVersionsReadsMetadataAlone_T15_U12) {
  for (const bool filters : {true, false}) {
    GitStandIn server({.filters = filters});
    GiveNewer(server, {{"infrastructure-components.yaml", Noise(200'000, 1)}, {"metadata.yaml.sig", "c2ln"}});
    size_t sent = 0;
    server.set_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
      http::Response answer = server.Serve(request);
      sent += answer.body.size();
      return answer;
    });
    auto repository = server.Open("", {}, {}, GitFiles::kMetadata);
    auto newer = NewerVersions({}, *repository, V("v1.0.0"));
    ASSERT_TRUE(newer.ok()) << newer.error().message;
    ASSERT_EQ(newer->size(), 3u);
    EXPECT_EQ(newer->back().version, V("v1.3.1"));
    EXPECT_TRUE(repository->File({}, V("v1.3.1"), "metadata.yaml.sig").ok());
    if (filters) EXPECT_LT(sent, 50'000u);
    // The tags take two, and each release one to begin with, one for the commit, and one for files that were left out.
    EXPECT_LE(server.seen().size(), (filters ? 2u + 3 * 3 : 2u + 3 * 2) + 3) << filters;
  }
}

// What a server that sends all files sends of one version, it sends of the others, too.
TEST(GitRequests, WhatIsTooMuchIsAskedForOnce_T15_U12) {
  GitStandIn server({.filters = false});
  GiveNewer(server, {{"large", Noise(9u << 20, 1)}});
  auto newer = NewerVersions({}, *server.Open("", {}, {}, GitFiles::kMetadata), V("v1.0.0"));
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.code(), Code::kInvalidArgument);
  EXPECT_THAT(newer.error().message, HasSubstr("body is larger than 8388608"));
  EXPECT_EQ(server.seen().size(), 4u) << "the tags, and one version";
}

// What went wrong with one is no reason for the others.
TEST(GitRequests, WhatIsWrongWithOneIsNotTooMuch_T15_U12) {
  for (const bool refused : {true, false}) {
    SCOPED_TRACE(refused);
    GitStandIn server({.filters = false});
    GiveNewer(server, {});
    int asked = 0;
    server.set_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
      if (request.body.find("command=fetch") == std::string::npos || ++asked > 1) return std::nullopt;
      http::Response response;
      if (!refused) response = server.Serve(request);
      if (!refused) response.body.replace(response.body.find("PACK") + 60, 1, "?");
      if (refused) response.status = 400;
      return response;
    });
    auto newer = NewerVersions({}, *server.Open("", {}, {}, GitFiles::kMetadata), V("v1.0.0"));
    ASSERT_TRUE(newer.ok()) << newer.error().message;
    ASSERT_EQ(newer->size(), 4u);  // the one that couldn't be read, and the one before it
    EXPECT_EQ(newer->back().version, V("v1.3.1"));
    EXPECT_NE(newer->back().unread, "");
    EXPECT_EQ((*newer)[2].unread, "");
  }
}

TEST(GitRequests, HaveTheSecretsCredentials_T15) {
  GitStandIn server({.authorization = "Basic bWU6czNjcmV0"});
  server.Release("v1.0.0", AwsRelease());
  auto repository = server.Open("", {{"username", "me"}, {"password", "s3cret"}});
  EXPECT_TRUE(GetRelease({}, *repository, V("v1.0.0")).ok());
  const std::map<std::string, std::string> secrets[] = {{}, {{"bearerToken", "s3cret"}}};
  for (const auto& secret : secrets) {
    auto versions = server.Open("", secret)->Versions({});
    ASSERT_FALSE(versions.ok());
    EXPECT_EQ(versions.code(), Code::kUnauthenticated);
    EXPECT_THAT(versions.error().message, HasSubstr("spec.fetchConfig.git.secretRef"));
    EXPECT_THAT(versions.error().message, Not(HasSubstr("s3cret")));
  }
  const size_t before = server.seen().size();
  auto wrong = server.Open("", {{"token", "s3cret"}})->Versions({});
  EXPECT_EQ(wrong.code(), Code::kUnauthenticated);
  EXPECT_EQ(server.seen().size(), before);
}

// A repository with so many tags, of one commit.
void GiveTags(GitStandIn& server, int count) {
  server.Release("v0.0.1", AwsRelease());
  const std::string id = server.Git("rev-parse v0.0.1");
  std::string packed = "# pack-refs with: peeled fully-peeled sorted \n";
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("refs/tags/v1.{}.{}", i / 100, i % 100));
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) packed += id + " " + name + "\n";
  ASSERT_TRUE(WriteFile(server.folder() + "/packed-refs", packed).ok());
}

// Ten thousand tags: under 200 ms and 20 MB.
TEST(GitRequests, TenThousandTagsAreReadQuickly_T15) {
  GitStandIn server;
  GiveTags(server, 10'000);
  auto repository = server.Open();
  Cost cost = Measure([&] {
    auto versions = repository->Versions({});
    if (!versions.ok()) return versions.error().message;
    auto file = repository->File({}, V("v1.99.99"), "metadata.yaml");
    return fmt::format("{} {} {}", versions->size(), versions->back().ToString(), file.ok());
  });
  EXPECT_EQ(cost.answer, "10001 v1.99.99 true");
  if (!kMeasuresCost) return;
  EXPECT_LT(cost.seconds, 0.2);
  EXPECT_LT(cost.bytes, 20e6);
}

// Of what is kept one file is taken, and the rest isn't copied for it.
TEST(GitRequests, AFileIsReadWithoutTheOtherTags_T15) {
  GitStandIn server;
  GiveTags(server, 60'000);
  auto repository = server.Open();
  ASSERT_TRUE(repository->File({}, V("v1.99.99"), "metadata.yaml").ok());
  Cost cost = Measure([&] {
    auto file = repository->File({}, V("v1.99.99"), "metadata.yaml");
    return file.ok() ? std::string("read") : file.error().message;
  });
  EXPECT_EQ(cost.answer, "read");
  if (!kMeasuresCost) return;
  EXPECT_LT(cost.bytes, 3e6);
}

// Where a hook of git's ran the tests, their commits and tags came into the repository that the hook was of.
TEST(GitStandIn, LeavesAHooksRepositoryAlone) {
  GitStandIn hooks;
  setenv("GIT_DIR", hooks.folder().c_str(), 1);
  GitStandIn server;
  server.Release("v1.0.0", AwsRelease());
  EXPECT_THAT(Texts(server.Open()->Versions({})), ElementsAre("v1.0.0"));
  unsetenv("GIT_DIR");
  EXPECT_EQ(hooks.Git("for-each-ref"), "");
}

}  // namespace
}  // namespace capi::fetch
