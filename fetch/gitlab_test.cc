#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "base/encoding.h"
#include "base/testing/value_or_abort.h"
#include "fetch/gitlab_testing.h"
#include "fetch/repository.h"
#include "fetch/versions_testing.h"

namespace capi::fetch {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kGitLabToken = "glpat-s3cret";

std::unique_ptr<Repository> OpenAt(const GitLabStandIn& gitlab, const GitLabOptions& options) {
  return ValueOrAbort(OpenGitLab(gitlab.url(), options), "repository");
}

size_t Lists(const GitLabStandIn& gitlab) {
  auto seen = gitlab.seen();
  return static_cast<size_t>(std::count_if(seen.begin(), seen.end(), [](const SeenRequest& request) {
    return request.host == "gitlab" && request.target.find("/generic/") == std::string::npos;
  }));
}

// I16: versions of the package, whatever else the project has.
TEST(GitLab, ListsAllPagesAndOnlyVersions) {
  GitLabPackage other = Package("v9.0.0"), hidden = Package("v8.0.0"), old = Package("v1.8.0");
  other.name = "p-templates";
  hidden.status = "pending_destruction";
  old.status = "deprecated";
  GitLabStandIn gitlab({Package("v1.11.0"), other, Package("nightly"), Package("v1.12.0-rc.0"), hidden, old,
                        Package("1.9.0"), Package("v1.9.0")});
  auto versions = OpenAt(gitlab, gitlab.options())->Versions({});
  ASSERT_TRUE(versions.ok()) << versions.error().message;
  EXPECT_THAT(Texts(*versions), ElementsAre("v1.8.0", "v1.9.0", "v1.11.0", "v1.12.0-rc.0"));
  EXPECT_EQ(gitlab.seen().size(), 4u);
  EXPECT_THAT(gitlab.seen(),
              Each(AllOf(Field(&SeenRequest::host, "gitlab"), Field(&SeenRequest::user_agent, "capi-operator/test"))));
}

TEST(GitLab, LatestIsStableAndOfTheContract_I3) {
  GitLabStandIn gitlab({Package("v1.12.0-rc.0"), Package("v1.11.0"), Package("v1.10.3"), Package("v1.10.2")});
  auto repository = OpenAt(gitlab, gitlab.options());
  EXPECT_EQ(LatestVersion({}, *repository, {})->ToString(), "v1.11.0");
  EXPECT_EQ(LatestVersion({}, *repository, {"v1beta1"})->ToString(), "v1.10.3");
}

// I16, T6: the files of another version than the URL's, and one look for the digests of both.
TEST(GitLab, DownloadsByNameWithOneLookForTheDigests) {
  GitLabStandIn gitlab({Package("v1.11.0"), Package("v1.10.3")});
  auto repository = ValueOrAbort(OpenGitLab(gitlab.url("v1.11.0"), gitlab.options()), "repository");
  auto release = GetRelease({}, *repository, V("1.10.3"));
  ASSERT_TRUE(release.ok()) << release.error().message;
  EXPECT_EQ(release->metadata, kMetadata);
  EXPECT_EQ(release->components, "kind: Namespace\n");
  EXPECT_EQ(release->source, gitlab.host() + "/group/project/p v1.10.3");
  EXPECT_EQ(Lists(gitlab), 2u) << "the package, and its files";
  ASSERT_FALSE(gitlab.seen().empty());
  EXPECT_EQ(gitlab.seen()[0].target, "/api/v4/projects/group%2Fproject/packages/generic/p/v1.10.3/metadata.yaml");
}

// T10: whose token goes where. Never to where a redirect leads.
TEST(GitLab, SendsATokenToHostsOfItsOwnerAlone) {
  struct Case {
    std::string_view name, token;
    bool host_is_named;
    std::string_view url_token, sent;
  };
  const Case cases[] = {
      {"no token", "", true, "", ""},
      {"of a host that its owner named", "own", true, "", "Bearer own"},
      {"of another host", "own", false, "", ""},
      {"of whoever wrote the URL", "", false, "url\n", "Bearer url"},
      {"of both", "own", true, "url", "Bearer url"},
      {"of both, for another host", "own", false, "url", "Bearer url"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    GitLabStandIn gitlab({Package("v1.11.0")});
    GitLabOptions options = gitlab.options(std::string(c.url_token));
    options.token = c.token;
    options.token_hosts = {c.host_is_named ? gitlab.host() : "gitlab.example.org"};
    auto release = GetRelease({}, *OpenAt(gitlab, options), V("v1.11.0"));
    ASSERT_TRUE(release.ok()) << release.error().message;
    bool objects = false;
    for (const SeenRequest& request : gitlab.seen()) {
      EXPECT_EQ(request.authorization, request.host == "gitlab" ? c.sent : "") << request.target;
      objects |= request.host == "objects";
    }
    EXPECT_TRUE(objects) << "the redirect was not followed";
  }
}

TEST(GitLab, FindsVersionsWithoutV_I12) {
  for (bool listed : {true, false}) {
    GitLabStandIn gitlab({Package("1.9.0")});
    auto repository = OpenAt(gitlab, gitlab.options());
    if (listed) {
      ASSERT_TRUE(repository->Versions({}).ok());
    }
    size_t before = gitlab.seen().size();
    auto file = repository->File({}, V("v1.9.0"), "metadata.yaml");
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(*file, kMetadata);
    EXPECT_EQ(gitlab.seen().size() - before, listed ? 3u : 5u) << "what the list has said isn't asked again";
  }
}

// F1: GitLab doesn't tell what is private from what isn't there, so the error says what may help.
TEST(GitLab, SaysWhichTokenIsWanted) {
  struct Case {
    std::string_view name, token, url_token;
    Code code;
    std::string_view message;
  };
  const Case cases[] = {
      {"none", "", "", Code::kNotFound,
       "404 Project Not Found (a private project needs a token: GITLAB_ACCESS_TOKEN for a host that the configuration "
       "file names as a source, or, for spec.fetchConfig.url, the key gitlab-access-token of the Secret that "
       "spec.configSecret names)"},
      {"one that stays here", "own", "", Code::kNotFound, "(GITLAB_ACCESS_TOKEN isn't sent to 127.0.0.1:"},
      {"a wrong one", "", "wrong", Code::kUnauthenticated, "GitLab refused the token: HTTP 401: 401 Unauthorized"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    GitLabStandIn gitlab({Package("v1.11.0")});
    gitlab.MakePrivate(std::string(kGitLabToken));
    GitLabOptions options = gitlab.options(std::string(c.url_token));
    options.token = c.token;
    auto repository = OpenAt(gitlab, options);
    for (const Error& error :
         {repository->Versions({}).error(), repository->File({}, V("v1.11.0"), "metadata.yaml").error()}) {
      EXPECT_EQ(error.code, c.code);
      EXPECT_THAT(error.message, HasSubstr(c.message));
    }
  }
  GitLabStandIn gitlab({Package("v1.11.0")});
  gitlab.MakePrivate(std::string(kGitLabToken));
  auto repository = OpenAt(gitlab, gitlab.options(std::string(kGitLabToken)));
  EXPECT_TRUE(repository->Versions({}).ok());
  auto missing = repository->File({}, V("v1.11.0"), "other.yaml");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_THAT(missing.error().message, AllOf(HasSubstr("failed to get other.yaml of 127.0.0.1:"),
                                             HasSubstr("404 Package Not Found"), Not(HasSubstr("token"))));
}

TEST(GitLab, NeverShowsATokenInAnError) {
  for (int status : {401, 403, 404, 429, 500}) {
    GitLabStandIn gitlab({Package("v1.11.0")});
    gitlab.AnswerListsWith(TextResponse(status, "{}", "application/json"));
    gitlab.AnswerDownloadsWith(TextResponse(status, "{}", "application/json"));
    auto repository = OpenAt(gitlab, gitlab.options(std::string(kGitLabToken)));
    EXPECT_THAT(repository->Versions({}).error().message, Not(HasSubstr(kGitLabToken)));
    EXPECT_THAT(repository->File({}, V("v1.11.0"), "metadata.yaml").error().message, Not(HasSubstr(kGitLabToken)));
  }
  GitLabStandIn gitlab({});
  auto bad = OpenGitLab(gitlab.url(), gitlab.options("glpat-s3cret\r\nX-Evil: 1"));
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().message, AllOf(HasSubstr("the GitLab token holds characters"), Not(HasSubstr("s3cret"))));
}

TEST(GitLab, SaysWhenTheRateLimitResets_F1) {
  http::Response limited = TextResponse(429, "Retry later\n");
  limited.headers.Set("RateLimit-Remaining", "0");
  limited.headers.Set("RateLimit-Reset", "1700000900");
  GitLabStandIn gitlab({Package("v1.11.0")});
  gitlab.AnswerListsWith(limited);
  gitlab.AnswerDownloadsWith(limited);
  FakeClock clock;  // at 1700000000
  Context ctx;
  ctx.clock = &clock;
  auto repository = OpenAt(gitlab, gitlab.options());
  for (const Error& error :
       {repository->Versions(ctx).error(), repository->File(ctx, V("v1.11.0"), "metadata.yaml").error()}) {
    EXPECT_EQ(error.code, Code::kRateLimited);
    EXPECT_EQ(error.retry_after, Seconds(900));
    EXPECT_THAT(error.message, HasSubstr("the limit resets at 2023-11-14T22:28:20Z"));
  }
}

// T6: one that can't be checked is as one that differs, and one that isn't named keeps nothing out.
TEST(GitLab, RefusesAFileOfAnotherDigestThanTheApiNames) {
  const std::string good = Sha256Hex("kind: Namespace\n");
  const std::pair<std::string, bool> cases[] = {
      {good, true}, {"", true}, {Sha256Hex("x"), false}, {"0", false}, {std::string(5'000, 'x'), false}};
  for (const auto& [digest, ok] : cases) {
    for (bool listed : {true, false}) {
      GitLabPackage package = Package("v1.11.0");
      package.sha256["core-components.yaml"] = digest;
      GitLabStandIn gitlab({package});
      auto repository = OpenAt(gitlab, gitlab.options());
      if (listed) {
        ASSERT_TRUE(repository->Versions({}).ok());
      }
      EXPECT_TRUE(repository->File({}, V("v1.11.0"), "metadata.yaml").ok());
      auto file = repository->File({}, V("v1.11.0"), "core-components.yaml");
      ASSERT_EQ(file.ok(), ok) << digest;
      EXPECT_EQ(Lists(gitlab), 2u) << "what the list has said isn't asked again";
      if (ok) continue;
      EXPECT_EQ(file.code(), Code::kFailedPrecondition) << "the same file comes with the next try";
      EXPECT_THAT(file.error().message, HasSubstr("does not have the digest that GitLab names"));
    }
  }
}

// T6: files may be put there again, under the same name. The list has the former ones, too, before and after.
TEST(GitLab, OfFilesOfOneNameTheNewestCounts) {
  GitLabPackage package = Package("v1.11.0");
  package.former = {{"core-components.yaml", "kind: Former\n"}, {"metadata.yaml", "former: true\n"}};
  GitLabStandIn gitlab({package});
  auto release = GetRelease({}, *OpenAt(gitlab, gitlab.options()), V("v1.11.0"));
  ASSERT_TRUE(release.ok()) << release.error().message;
  EXPECT_EQ(release->components, "kind: Namespace\n");
}

// T6: lists that can't be read don't let in what they have named another digest for; nor do they keep out anything
// else.
TEST(GitLab, ADigestThatWasNamedOnceCountsWhileListsAreAway) {
  for (int status : {401, 403, 404, 429, 500}) {
    SCOPED_TRACE(status);
    GitLabPackage named = Package("v1.11.0");
    GitLabStandIn gitlab({named, Package("v1.10.3")});
    GitLabOptions options = gitlab.options();
    options.digests = std::make_shared<NamedDigests>();
    ASSERT_TRUE(OpenAt(gitlab, options)->File({}, V("v1.11.0"), "metadata.yaml").ok());
    gitlab.AnswerListsWith(TextResponse(status, "{}", "application/json"));
    named.files["core-components.yaml"] = "kind: Changed\n";
    gitlab.Publish({named, Package("v1.10.3")});
    auto changed = OpenAt(gitlab, options)->File({}, V("v1.11.0"), "core-components.yaml");
    ASSERT_FALSE(changed.ok()) << "it was never fetched, but its digest was named with the other file's";
    EXPECT_EQ(changed.code(), Code::kFailedPrecondition);
    EXPECT_TRUE(OpenAt(gitlab, options)->File({}, V("v1.10.3"), "core-components.yaml").ok());
    EXPECT_TRUE(OpenAt(gitlab, gitlab.options())->File({}, V("v1.11.0"), "core-components.yaml").ok());
    gitlab.AnswerLists();
    EXPECT_TRUE(OpenAt(gitlab, options)->File({}, V("v1.11.0"), "core-components.yaml").ok());
  }
}

// T6: an answer without the file, while it is replaced, doesn't forget what was named for it; one that has it without a
// digest does.
TEST(GitLab, AnAnswerWithoutTheFileForgetsNothing) {
  GitLabPackage package = Package("v1.11.0");
  package.sha256["core-components.yaml"] = Sha256Hex("x");
  GitLabStandIn gitlab({package});
  GitLabOptions options = gitlab.options();
  options.digests = std::make_shared<NamedDigests>();
  auto file = [&] { return OpenAt(gitlab, options)->File({}, V("v1.11.0"), "core-components.yaml"); };
  ASSERT_EQ(file().code(), Code::kFailedPrecondition);
  GitLabPackage without = package;
  without.files.erase("core-components.yaml");
  gitlab.Publish({without});
  gitlab.AnswerDownloadsWith(TextResponse(200, "kind: Namespace\n"));
  auto replaced = file();
  ASSERT_FALSE(replaced.ok());
  EXPECT_EQ(replaced.code(), Code::kFailedPrecondition);
  package.sha256["core-components.yaml"] = "";
  gitlab.Publish({package});
  EXPECT_TRUE(file().ok());
}

// T6.
TEST(GitLab, FollowsNoRedirectOutOfTls) {
  http::Response plain = TextResponse(302, "");
  plain.headers.Set("Location", "http://127.0.0.1:1/core-components.yaml");
  GitLabStandIn gitlab({Package("v1.11.0")});
  gitlab.AnswerDownloadsWith(plain);
  auto file = OpenAt(gitlab, gitlab.options(std::string(kGitLabToken)))->File({}, V("v1.11.0"), "metadata.yaml");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message, HasSubstr("http"));
}

TEST(GitLab, RefusesWhatIsNoList_F2) {
  for (std::string_view body : {"<html></html>", "{}", "nonsense", "[1, 2"}) {
    SCOPED_TRACE(body);
    GitLabStandIn gitlab({Package("v1.11.0")});
    gitlab.AnswerListsWith(TextResponse(200, std::string(body), "application/json"));
    auto repository = OpenAt(gitlab, gitlab.options());
    auto versions = repository->Versions({});
    ASSERT_FALSE(versions.ok());
    EXPECT_EQ(versions.code(), Code::kInvalidArgument);
    EXPECT_TRUE(repository->File({}, V("v1.11.0"), "metadata.yaml").ok()) << "its digest can't be asked for";
  }
  // Entries of other shapes than packages have are none.
  GitLabStandIn gitlab({});
  gitlab.AnswerListsWith(TextResponse(200, R"([1, null, [{"name": "p"}], {"name": "p", "version": {"a": "v1.0.0"}},
    {"id": "x", "name": ["p"]}, {"id": 3, "name": "p", "version": "v1.2.3", "status": null, "tags": [{"id": 4}]}])"));
  auto versions = OpenAt(gitlab, gitlab.options())->Versions({});
  ASSERT_TRUE(versions.ok()) << versions.error().message;
  EXPECT_THAT(Texts(*versions), ElementsAre("v1.2.3"));
}

TEST(GitLab, RefusesHtmlInPlaceOfAFile_F2) {
  GitLabStandIn gitlab({Package("v1.11.0")});
  gitlab.AnswerDownloadsWith(TextResponse(200, "<!DOCTYPE html>\n<html><body>Sign in</body></html>", "text/html"));
  auto file = OpenAt(gitlab, gitlab.options())->File({}, V("v1.11.0"), "metadata.yaml");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.code(), Code::kInvalidArgument) << "nobody has changed the file";
  EXPECT_THAT(file.error().message, HasSubstr("the server answered with HTML"));
}

TEST(GitLab, RefusesWhatIsTooLarge_F2) {
  GitLabStandIn gitlab({{.version = "v1.11.0", .files = {{"core-components.yaml", std::string(200'000, 'x')}}}});
  GitLabOptions options = gitlab.options();
  options.max_file = 100'000;
  options.max_answer = 100;
  auto repository = OpenAt(gitlab, options);
  auto file = repository->File({}, V("v1.11.0"), "core-components.yaml");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message, HasSubstr("core-components.yaml of "));
  EXPECT_FALSE(repository->Versions({}).ok());
  for (const char* name : {"", ".", "..", "../x", "a/b"}) {
    EXPECT_EQ(repository->File({}, V("v1.11.0"), name).code(), Code::kInvalidArgument) << name;
  }
}

// F2: no package has as many, and all of them are kept in memory.
TEST(GitLab, ReadsTenThousandVersions_F2) {
  for (int count : {10'000, 10'001}) {
    Json list = Json::array();
    for (int i = 0; i < count; ++i)
      list.push_back({{"id", i + 1}, {"name", "p"}, {"version", fmt::format("v1.0.{}", i)}});
    GitLabStandIn gitlab({});
    gitlab.AnswerListsWith(TextResponse(200, ToJsonText(list), "application/json"));
    EXPECT_EQ(OpenAt(gitlab, gitlab.options())->Versions({}).ok(), count == 10'000);
  }
}

// A list that never ends holds nobody for hours: each page comes in time, and all of them don't.
TEST(GitLab, TheWholeListHasItsTime) {
  FakeClock clock;
  std::atomic<int> pages = 0;
  LoopbackCertificate certificate;
  http::ServerOptions serving;
  serving.cert_pem = certificate.cert_pem;
  serving.key_pem = certificate.key_pem;
  auto server = http::Server::Start(serving, [&](const http::ServerRequest&) {
    clock.Advance(Seconds(50));
    http::Response page = TextResponse(200, "[]", "application/json");
    page.headers.Set("X-Next-Page", std::to_string(++pages + 1));
    return page;
  });
  ASSERT_TRUE(server.ok()) << server.error().message;
  GitLabOptions options;
  options.ca_file = certificate.ca_file();
  Context ctx;
  ctx.clock = &clock;
  auto versions =
      (*OpenGitLab("https://" + (*server)->address() + "/api/v4/projects/1/packages/generic/p/latest/c.yaml", options))
          ->Versions(ctx);
  ASSERT_FALSE(versions.ok());
  EXPECT_EQ(versions.code(), Code::kUnavailable) << "it is tried again: " << versions.error().message;
  EXPECT_LT(pages, 10);
}

}  // namespace
}  // namespace capi::fetch
