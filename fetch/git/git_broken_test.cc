#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "fetch/git/git_testing.h"

namespace capi::fetch {
namespace {

using testing::HasSubstr;
using testing::Not;

api::Version V(std::string_view text) { return *api::Version::Parse(text); }

Result<std::string> Metadata(const GitStandIn& server, const std::map<std::string, std::string>& secret = {}) {
  return server.Open("", secret)->File({}, V("v1.0.0"), "metadata.yaml");
}

TEST(BrokenGit, AnswersOfOtherStatusAreTold_T15_F5) {
  struct Case {
    int status;
    Code code;
    const char* words;
  };
  const Case cases[] = {{401, Code::kUnauthenticated, "refused what the Secret"},
                        {403, Code::kUnauthenticated, "HTTP 403"},
                        {404, Code::kNotFound, "no such repository"},
                        {400, Code::kInvalidArgument, "HTTP 400"},
                        {408, Code::kUnavailable, "HTTP 408"},
                        {500, Code::kUnavailable, "HTTP 500"},
                        {503, Code::kUnavailable, "HTTP 503"}};
  for (const Case& c : cases) {
    GitStandIn server;
    server.set_fault([&](const http::ServerRequest& request) {
      http::Response response;
      response.status = c.status;
      response.body = "you sent " + request.headers.Get("Authorization");
      return response;
    });
    auto got = Metadata(server, {{"bearerToken", "s3cret"}});
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.code(), c.code) << got.error().message;
    EXPECT_THAT(got.error().message, HasSubstr(c.words));
    EXPECT_THAT(got.error().message, Not(HasSubstr("s3cret")));
  }
}

TEST(BrokenGit, ALimitOfRequestsSaysUntilWhen_F5) {
  GitStandIn server;
  server.set_fault([](const http::ServerRequest&) {
    http::Response response;
    response.status = 429;
    response.headers.Set("Retry-After", "30");
    return response;
  });
  auto got = Metadata(server);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.code(), Code::kRateLimited);
  EXPECT_EQ(got.error().retry_after, Millis(Seconds(30)));
  EXPECT_THAT(got.error().message, HasSubstr("the next one may come at"));
}

TEST(BrokenGit, WhatIsNoGitServerIsTold_F2) {
  GitStandIn server;
  server.set_fault([](const http::ServerRequest&) {
    http::Response response;
    response.status = 200;
    response.headers.Set("Content-Type", "text/html");
    response.body = "<html>log in</html>";
    return response;
  });
  auto got = Metadata(server);
  EXPECT_EQ(got.code(), Code::kInvalidArgument);
  EXPECT_THAT(got.error().message, HasSubstr("is no git server"));
}

// T6, T11: nothing goes to another server, and least of all what authenticates.
TEST(BrokenGit, AnotherServerIsNotAskedForARepository_T15) {
  GitStandIn other;
  other.Release("v1.0.0", AwsRelease());
  for (const bool at_once : {true, false}) {
    GitStandIn server;
    server.Release("v1.0.0", AwsRelease());
    server.set_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
      if (!at_once && request.method == "GET") return std::nullopt;
      http::Response response;
      response.status = 307;
      std::string to = other.url();
      response.headers.Set("Location", to + request.path.substr(request.path.rfind(".git") + 4) + "?" + request.query);
      return response;
    });
    auto got = Metadata(server, {{"username", "me"}, {"password", "s3cret"}});
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.code(), Code::kInvalidArgument);
    EXPECT_THAT(got.error().message, HasSubstr(at_once ? "sends to another server, which isn't asked" : "HTTP 307"));
    EXPECT_THAT(other.seen(), testing::IsEmpty());
  }
}

TEST(BrokenGit, WithinTheServerARepositoryMayHaveMoved_T15) {
  GitStandIn server({.authorization = "Basic bWU6czNjcmV0"});
  server.Release("v1.0.0", AwsRelease());
  server.set_fault([](const http::ServerRequest& request) -> std::optional<http::Response> {
    if (request.path.find(".git/") != std::string::npos) return std::nullopt;
    http::Response response;
    response.status = 301;
    response.headers.Set("Location", "/org/repository.git/info/refs?" + request.query);
    return response;
  });
  std::string url = server.url();
  url.resize(url.size() - 4);
  auto repository = OpenGit({url, "", {}}, {{"username", "me"}, {"password", "s3cret"}},
                            api::ProviderType::kInfrastructure, "aws", {});
  ASSERT_TRUE(repository.ok());
  auto release = GetRelease({}, **repository, V("v1.0.0"));
  EXPECT_TRUE(release.ok()) << release.error().message;
}

// F3, T15: cut off anywhere, or changed anywhere.
TEST(BrokenGit, APackThatIsNotWholeIsRefused_T15) {
  GitStandIn server({.filters = false});
  server.Release("v1.0.0", AwsRelease());
  int kind = 0;
  server.set_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
    if (request.body.find("command=fetch") == std::string::npos) return std::nullopt;
    http::Response response = server.Serve(request);
    std::string& body = response.body;
    const size_t pack = body.find("PACK");
    if (kind == 0) body.resize(body.size() - 30);
    if (kind == 1) body.resize(pack + 100);
    if (kind == 2) body[pack + 60] = static_cast<char>(body[pack + 60] ^ 1);
    if (kind == 3) body.clear();
    return response;
  });
  for (kind = 0; kind < 4; ++kind) {
    auto got = Metadata(server);
    ASSERT_FALSE(got.ok()) << kind;
    EXPECT_EQ(got.code(), kind == 2 ? Code::kInvalidArgument : Code::kUnavailable) << got.error().message;
  }
  EXPECT_TRUE(Metadata(server).ok());
}

// T15, I3, U12: what was named a moment ago is only away, and nothing older is taken for the latest.
TEST(BrokenGit, ARepositoryThatIsGoneForAMomentIsAnOutage_T15_I3_U12) {
  for (const char* method : {"GET", "POST"}) {
    SCOPED_TRACE(method);
    GitStandIn server;
    for (const char* version : {"v1.0.0", "v1.1.0"}) server.Release(version, AwsRelease("", version));
    int asked = 0;  // the first of each is for the tags
    server.set_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
      if (request.method != method || (++asked != 2 && asked != 3)) return std::nullopt;
      http::Response response;
      response.status = 404;
      return response;
    });
    const auto repository = server.Open();
    EXPECT_EQ(LatestVersion({}, *repository, {}).code(), Code::kUnavailable);
    EXPECT_EQ(NewerVersions({}, *repository, V("v0.1.0")).code(), Code::kUnavailable);
    EXPECT_EQ(LatestVersion({}, *repository, {})->ToString(), "v1.1.0");
  }
}

// A server that sends another commit than the tag's has sent nothing.
TEST(BrokenGit, AnotherCommitIsNotTakenForTheTags_T15) {
  for (const bool filters : {true, false}) {
    GitStandIn server({.filters = filters});
    server.Release("v0.9.0", AwsRelease("", "another"));
    server.Release("v1.0.0", AwsRelease());
    const std::string one = server.Git("rev-parse v1.0.0"), other = server.Git("rev-parse v0.9.0");
    server.set_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
      http::ServerRequest changed = request;
      if (const size_t at = changed.body.find(one); at != std::string::npos)
        changed.body.replace(at, one.size(), other);
      return server.Serve(changed);
    });
    auto got = Metadata(server);
    ASSERT_FALSE(got.ok());
    EXPECT_THAT(got.error().message, HasSubstr("left out what was asked for"));
  }
}

TEST(BrokenGit, WhatIsNoFileIsNotRead_T15) {
  GitStandIn server;
  auto files = AwsRelease();
  files["metadata.yaml"] = "version https://git-lfs.github.com/spec/v1\noid sha256:a\nsize 1\n";
  server.Release("v1.0.0", files);
  EXPECT_THAT(Metadata(server).error().message, HasSubstr("Git LFS"));
  const std::string blob = server.Git("rev-parse v1.0.0:infrastructure-components.yaml");
  server.Git(fmt::format("update-index --add --cacheinfo 120000,{},infrastructure-components.yaml", blob));
  server.Git("tag v1.1.0 $(git commit-tree -m link $(git write-tree))");
  auto link = server.Open()->File({}, V("v1.1.0"), "infrastructure-components.yaml");
  EXPECT_EQ(link.code(), Code::kNotFound);
  server.Git("tag v1.2.0 " + blob);
  auto no_commit = server.Open()->File({}, V("v1.2.0"), "metadata.yaml");
  EXPECT_EQ(no_commit.code(), Code::kNotFound) << no_commit.error().message;
  EXPECT_THAT(no_commit.error().message, HasSubstr("it names no commit"));
}

TEST(BrokenGit, WhatIsTooLargeIsRefused_T15) {
  GitStandIn server({.filters = false});
  auto files = AwsRelease();
  std::string noise;
  for (unsigned i = 0, state = 1; i < 9'000'000; ++i, state = state * 1664525U + 1013904223U)
    noise += static_cast<char>(state >> 24);
  files["noise"] = noise;
  server.Release("v1.0.0", files);
  auto got = Metadata(server);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.code(), Code::kInvalidArgument);
  HttpOptions small;
  small.max_file = 10;
  GitStandIn other;
  other.Release("v1.0.0", AwsRelease());
  auto large = other.Open("", {}, small)->File({}, V("v1.0.0"), "metadata.yaml");
  EXPECT_THAT(large.error().message, HasSubstr("too large"));
}

TEST(BrokenGit, ARepositoryOfTheOtherHashIsRefused_T15) {
  GitStandIn server({.format = "sha256"});
  server.Release("v1.0.0", AwsRelease());
  auto got = server.Open()->Versions({});
  EXPECT_EQ(got.code(), Code::kUnsupported);
  EXPECT_THAT(got.error().message, HasSubstr("SHA-256"));
}

TEST(BrokenGit, AnEmptyRepositoryHasNoVersions_T15) {
  GitStandIn server;
  auto got = server.Open()->Versions({});
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_TRUE(got->empty());
}

}  // namespace
}  // namespace capi::fetch
