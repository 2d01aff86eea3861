#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "api/testing/release_folder.h"
#include "base/files.h"
#include "base/http/server/server.h"
#include "base/http/testing.h"
#include "base/json.h"
#include "base/mutex.h"
#include "fetch/github_testing.h"
#include "fetch/repository.h"
#include "fetch/versions_testing.h"

namespace capi::fetch {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(GitHub, ListsAllPagesAndOnlyVersions) {
  GitHubRelease draft = Release("v9.0.0");
  draft.draft = true;
  GitHubStandIn github({Release("v1.11.0"), Release("nightly"), Release("v1.12.0-rc.0"), draft, Release("v1.10.3"),
                        Release("1.9.0"), Release("v1.2")});
  auto repository = Open(github.options(std::string(kToken)));
  auto versions = repository->Versions({});
  ASSERT_TRUE(versions.ok()) << versions.error().message;
  EXPECT_THAT(Texts(*versions), ElementsAre("v1.9.0", "v1.10.3", "v1.11.0", "v1.12.0-rc.0"));
  EXPECT_EQ(github.seen().size(), 4u);
  EXPECT_THAT(github.seen(),
              Each(AllOf(Field(&SeenRequest::host, "api"), Field(&SeenRequest::user_agent, "capi-operator/test"))));
}

TEST(GitHub, LatestIsStableAndOfTheContract_I3) {
  GitHubStandIn github({Release("v1.12.0-rc.0"), Release("v1.11.0"), Release("v1.10.3"), Release("v1.10.2")});
  auto repository = Open(github.options());
  EXPECT_EQ(LatestVersion({}, *repository, {})->ToString(), "v1.11.0");
  EXPECT_EQ(LatestVersion({}, *repository, {"v1beta1"})->ToString(), "v1.10.3");
}

// T6: the API's budget is small, and not needed for the files: it is asked for the digests of both at once. Where it
// doesn't answer, they come all the same; with a token, too, with which it is asked for them first.
TEST(GitHub, DownloadsByNameWithOneQuestionToTheApi) {
  for (const std::string& token : {std::string(), std::string(kToken)}) {
    for (int status : {200, 401, 403, 404, 500}) {
      SCOPED_TRACE(token + std::to_string(status));
      GitHubStandIn github({Release("v1.11.0")});
      if (status != 200) github.AnswerApiWith(TextResponse(status, "<html></html>"));
      auto release = GetRelease({}, *Open(github.options(token)), V("1.11.0"));
      ASSERT_TRUE(release.ok()) << release.error().message;
      EXPECT_EQ(release->metadata, kMetadata);
      EXPECT_EQ(release->components, "kind: Namespace\n");
      EXPECT_THAT(release->source, HasSubstr("/o/r v1.11.0"));
      size_t asked = 0, named = 0;
      for (const SeenRequest& request : github.seen()) {
        asked += request.host == "api" ? 1 : 0;
        named += request.host == "web" ? 1 : 0;
        EXPECT_EQ(request.authorization, request.host == "api" && !token.empty() ? "Bearer " + token : "");
      }
      if (token.empty()) {
        EXPECT_EQ(asked, 1u);
      } else {
        EXPECT_EQ(asked, status == 200 ? 3u : status == 404 ? 2u : 1u) << "404: the tag may have no \"v\"";
      }
      EXPECT_EQ(named, !token.empty() && status == 200 ? 0u : 2u);
    }
  }
}

// T14: what lies beside the two files, where it is asked for; nothing else.
TEST(GitHub, GivesSignaturesBesideTheFiles_T14) {
  GitHubRelease release = Release("v1.11.0");
  release.assets["metadata.yaml.sig"] = "of the metadata";
  release.assets["core-components.yaml.sigstore.json"] = "of the components";
  release.assets["core-components.yaml.bundle"] = "of them, too";
  release.assets["other.yaml.sig"] = "of another file";
  for (bool is_private : {false, true}) {
    GitHubStandIn github({release});
    if (is_private) github.MakePrivate();
    GitHubOptions options = github.options(std::string(kToken));
    EXPECT_FALSE(Open(options)->File({}, V("v1.11.0"), "metadata.yaml.sig").ok());
    options.signatures = true;
    auto repository = Open(options);
    auto got = GetRelease({}, *repository, V("v1.11.0"), true);
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->signatures, (api::Signatures{{"components.bundle", "of them, too"},
                                                {"components.sigstore.json", "of the components"},
                                                {"metadata.sig", "of the metadata"}}));
    auto asked = github.seen();
    EXPECT_EQ(std::count_if(
                  asked.begin(), asked.end(),
                  [](const auto& one) { return one.host == "api" && one.target.find("/tags/") != std::string::npos; }),
              1)
        << "of one release";
    EXPECT_TRUE(GetRelease({}, *repository, V("v1.11.0"))->signatures.empty());
    EXPECT_FALSE(repository->File({}, V("v1.11.0"), "other.yaml.sig").ok());
  }
  GitHubStandIn unsigned_one({Release("v1.11.0")});
  GitHubOptions options = unsigned_one.options();
  options.signatures = true;
  auto got = GetRelease({}, *Open(options), V("v1.11.0"), true);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.code(), Code::kNotFound);
  EXPECT_THAT(got.error().message, HasSubstr("has no signature of metadata.yaml: none of the files metadata.yaml."));
}

TEST(GitHub, SendsTheTokenToTheApiAloneForAPrivateRepository) {
  GitHubStandIn github({Release("v1.11.0")});
  github.MakePrivate();
  auto file = Open(github.options(std::string(kToken) + "\n"))->File({}, V("v1.11.0"), "metadata.yaml");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(*file, kMetadata);
  bool objects = false;
  for (const SeenRequest& request : github.seen()) {
    SCOPED_TRACE(request.host + request.target);
    EXPECT_EQ(request.authorization, request.host == "api" ? "Bearer " + std::string(kToken) : "");
    objects |= request.host == "objects";
  }
  EXPECT_TRUE(objects) << "the asset's redirect was not followed";
}

TEST(GitHub, FindsReleasesWhoseTagHasNoV_I12) {
  GitHubStandIn github({Release("1.9.0")});
  auto file = Open(github.options())->File({}, V("v1.9.0"), "metadata.yaml");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(*file, kMetadata);
}

TEST(GitHub, TellsAMissingReleaseFromAMissingFile_F1) {
  for (const std::string& token : {std::string(), std::string(kToken)}) {
    SCOPED_TRACE(token);
    GitHubStandIn github({{.tag = "v1.11.0", .assets = {{"metadata.yaml", std::string(kMetadata)}}}});
    auto repository = Open(github.options(token));
    ASSERT_TRUE(repository->File({}, V("v1.11.0"), "metadata.yaml").ok());
    auto no_file = repository->File({}, V("v1.11.0"), "core-components.yaml");
    ASSERT_FALSE(no_file.ok());
    EXPECT_EQ(no_file.code(), Code::kNotFound);
    EXPECT_THAT(no_file.error().message,
                HasSubstr("failed to get file \"core-components.yaml\" from \"v1.11.0\" release"));
    const size_t before = github.seen().size();
    auto no_release = repository->File({}, V("v1.11.7"), "metadata.yaml");
    ASSERT_FALSE(no_release.ok());
    EXPECT_EQ(no_release.code(), Code::kNotFound);
    EXPECT_THAT(no_release.error().message, HasSubstr("release not found for version v1.11.7"));
    if (!token.empty()) continue;
    EXPECT_THAT(no_release.error().message, HasSubstr("a private repository needs a token"));
    const auto seen = github.seen();
    for (size_t i = before; i < seen.size(); ++i) EXPECT_EQ(seen[i].host, "web") << "the API knows no more";
  }
}

TEST(GitHub, SaysWhenTheRateLimitResets_F1) {
  GitHubStandIn github({Release("v1.11.0")});
  http::Response answer = RateLimited();
  answer.headers.Set("X-RateLimit-Remaining", "0");
  answer.headers.Set("X-RateLimit-Reset", "1700000900");
  github.AnswerApiWith(answer);
  FakeClock clock;  // at 1700000000
  Context ctx;
  ctx.clock = &clock;
  auto versions = Open(github.options())->Versions(ctx);
  ASSERT_FALSE(versions.ok());
  EXPECT_EQ(versions.code(), Code::kRateLimited);
  EXPECT_EQ(versions.error().retry_after, Seconds(900));
  EXPECT_THAT(versions.error().message, HasSubstr("rate limit for github api has been reached"));
  EXPECT_THAT(versions.error().message, HasSubstr("2023-11-14T22:28:20Z"));
}

TEST(GitHub, NeverShowsTheTokenInAnError) {
  for (int status : {401, 403, 404, 429, 500}) {
    GitHubStandIn github({Release("v1.11.0")});
    github.MakePrivate();
    github.AnswerApiWith(TextResponse(status, "{}", "application/json"));
    auto repository = Open(github.options(std::string(kToken)));
    EXPECT_THAT(repository->Versions({}).error().message, Not(HasSubstr(kToken)));
    EXPECT_THAT(repository->File({}, V("v1.11.0"), "metadata.yaml").error().message, Not(HasSubstr(kToken)));
  }
  GitHubOptions options;
  options.token = "ghp_s3cret\r\nX-Evil: 1";
  auto bad = OpenGitHub(kReleases, options);
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().message, Not(HasSubstr("s3cret")));
}

TEST(GitHub, NeverFollowsAListToAnotherHost) {
  GitHubStandIn other({Release("v6.6.6")}), github({Release("v1.11.0")});
  http::Response answer = TextResponse(200, "[]", "application/json");
  answer.headers.Set("Link", "<" + other.options().api_url + "/repos/o/r/releases>; rel=\"next\"");
  github.AnswerApiWith(answer);
  auto versions = Open(github.options(std::string(kToken)))->Versions({});
  ASSERT_FALSE(versions.ok());
  EXPECT_EQ(versions.code(), Code::kInvalidArgument);
  EXPECT_THAT(other.seen(), IsEmpty());
}

TEST(GitHub, RefusesHtmlInPlaceOfAFile_F2) {
  GitHubRelease release = Release("v1.11.0");
  release.digest = "sha256:0";
  GitHubStandIn github({release});
  github.AnswerDownloadsWith("<!DOCTYPE html>\n<html><body>Sign in</body></html>");
  auto file = Open(github.options())->File({}, V("v1.11.0"), "metadata.yaml");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.code(), Code::kInvalidArgument) << "nobody has changed the file";
  EXPECT_THAT(file.error().message, HasSubstr("the server answered with HTML"));
}

TEST(GitHub, RefusesAListThatIsNone_F2) {
  for (std::string_view body : {"<html></html>", "{}", "nonsense", "[1, 2"}) {
    GitHubStandIn github({});
    github.AnswerApiWith(TextResponse(200, std::string(body), "application/json"));
    auto versions = Open(github.options())->Versions({});
    ASSERT_FALSE(versions.ok()) << body;
    EXPECT_EQ(versions.code(), Code::kInvalidArgument) << body;
  }
}

TEST(GitHub, RefusesAFileOfAnotherSizeThanTheApiNames) {
  GitHubRelease release = Release("v1.11.0");
  release.size_lie = 7;
  for (std::string_view token : {std::string_view(), kToken}) {
    GitHubStandIn github({release});
    auto file = Open(github.options(std::string(token)))->File({}, V("v1.11.0"), "core-components.yaml");
    ASSERT_FALSE(file.ok()) << token;
    EXPECT_EQ(file.code(), Code::kUnavailable);
    EXPECT_THAT(file.error().message, HasSubstr("got 16 bytes of 23"));
  }
}

// A page of releases has more than a release may have: their notes, and every asset. Requests count, so a page is as
// large as it may be; where it is too large, a smaller one is asked for.
TEST(GitHub, ReadsPagesOfSevenMegabytes) {
  GitHubOptions options;
  Json page = Json::array();
  for (int i = 0; i < 30; ++i) {
    page.push_back({{"tag_name", "v1.0." + std::to_string(i)}, {"body", std::string(240'000, 'n')}});
  }
  const std::string thirty = ToJsonText(page), hundred(options.max_answer + 1, ' ');
  ASSERT_GT(thirty.size(), api::kMaxReleaseBytes);
  options.token = kToken;
  std::vector<std::string> asked;
  Mutex mu;
  auto server = http::Server::Start({}, [&](const http::ServerRequest& request) {
    MutexLock lock(mu);
    asked.push_back(request.query);
    return TextResponse(200, request.query == "per_page=100" ? hundred : thirty, "application/json");
  });
  ASSERT_TRUE(server.ok()) << server.error().message;
  options.api_url = "http://" + (*server)->address();
  auto versions = Open(options)->Versions({});
  ASSERT_TRUE(versions.ok()) << versions.error().message;
  EXPECT_EQ(versions->size(), 30u);
  options.max_answer = 1'000'000;
  EXPECT_FALSE(Open(options)->Versions({}).ok()) << "it is bounded all the same";
  MutexLock lock(mu);
  EXPECT_THAT(asked, ElementsAre("per_page=100", "per_page=30", "per_page=100", "per_page=30"));
}

// Smaller pages are asked for where a page was too large, and for nothing else: a request costs.
TEST(GitHub, AsksForSmallerPagesOnlyWhereOneIsTooLarge) {
  http::Response elsewhere = TextResponse(200, "[]", "application/json");
  elsewhere.headers.Set("Link", "<http://other.test/repos/o/r/releases?page=2>; rel=\"next\"");
  const std::pair<std::string_view, http::Response> cases[] = {
      {"HTML", TextResponse(200, "<html></html>")},    {"no list", TextResponse(200, "{}")},
      {"no JSON", TextResponse(200, "[1, 2")},         {"another host", elsewhere},
      {"a refused request", TextResponse(422, "[1,")},
  };
  for (const auto& [name, answer] : cases) {
    SCOPED_TRACE(name);
    GitHubStandIn github({});
    github.AnswerApiWith(answer);
    auto versions = Open(github.options(std::string(kToken)))->Versions({});
    ASSERT_FALSE(versions.ok());
    EXPECT_EQ(versions.code(), Code::kInvalidArgument);
    EXPECT_EQ(github.seen().size(), 1u);
  }
}

// F2: no repository has as many, and all of them are kept in memory.
TEST(GitHub, ReadsAsManyReleasesAsGitHubLists_F2) {
  for (int count : {10'000, 10'001}) {
    Json list = Json::array();
    for (int i = 0; i < count; ++i) list.push_back({{"tag_name", "v1.0." + std::to_string(i)}});
    GitHubStandIn github({});
    github.AnswerApiWith(TextResponse(200, ToJsonText(list), "application/json"));
    auto versions = Open(github.options(std::string(kToken)))->Versions({});
    EXPECT_EQ(versions.ok(), count == 10'000);
    EXPECT_EQ(github.seen().size(), 1u);
  }
}

// A list that never ends holds nobody for hours: each page comes in time, and all of them don't.
TEST(GitHub, TheWholeListHasItsTime) {
  FakeClock clock;
  std::atomic<int> pages = 0;
  std::string url;
  auto server = http::Server::Start({}, [&](const http::ServerRequest&) {
    clock.Advance(Seconds(50));
    http::Response page = TextResponse(200, "[]", "application/json");
    page.headers.Set("Link", "<" + url + "/repos/o/r/releases?page=" + std::to_string(++pages) + ">; rel=\"next\"");
    return page;
  });
  ASSERT_TRUE(server.ok()) << server.error().message;
  GitHubOptions options;
  options.token = kToken;
  options.api_url = url = "http://" + (*server)->address();
  Context ctx;
  ctx.clock = &clock;
  auto versions = Open(options)->Versions(ctx);
  ASSERT_FALSE(versions.ok());
  EXPECT_EQ(versions.code(), Code::kUnavailable) << "it is tried again: " << versions.error().message;
  EXPECT_LT(pages, 10);
}

// Each URL by the proxy of its own scheme: the API, and downloads from another host.
TEST(GitHub, GoesThroughTheProxyOfTheScheme) {
  Mutex mu;
  std::vector<std::string> lines;
  http_testing::RawServer proxy([&](http_testing::Peer& peer, int) {
    std::string request = peer.ReadRequest();
    MutexLock lock(mu);
    lines.push_back(request.substr(0, request.find("\r\n")));
    bool api = request.starts_with("GET ");
    peer.Write(std::string("HTTP/1.1 ") + (api ? "200 OK" : "502 Bad Gateway") +
               "\r\nConnection: close\r\nContent-Length: 2\r\n\r\n[]");
  });
  GitHubOptions options;
  options.api_url = "http://api.github.test";
  options.download_url = "https://github.test";
  options.token = kToken;
  options.proxy = {.url = proxy.url(), .http_url = proxy.url()};
  auto repository = Open(options);
  auto versions = repository->Versions({});
  ASSERT_TRUE(versions.ok()) << versions.error().message;
  EXPECT_FALSE(repository->File({}, V("v1.11.0"), "metadata.yaml").ok());
  MutexLock lock(mu);
  EXPECT_THAT(lines, ElementsAre("GET http://api.github.test/repos/o/r/releases?per_page=100 HTTP/1.1",
                                 "GET http://api.github.test/repos/o/r/releases/tags/v1.11.0 HTTP/1.1",
                                 "CONNECT github.test:443 HTTP/1.1"));
}

TEST(GitHub, RefusesAFileThatIsTooLarge_F2) {
  GitHubStandIn github({{.tag = "v1.11.0", .assets = {{"core-components.yaml", std::string(200'000, 'x')}}}});
  GitHubOptions options = github.options();
  options.max_file = 100'000;
  auto file = Open(options)->File({}, V("v1.11.0"), "core-components.yaml");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message, HasSubstr("core-components.yaml of "));
}

TEST(GitHub, SeesAReleaseThatAppearsLater) {
  // A list isn't kept: each one is asked for.
  GitHubStandIn github({Release("v1.11.0")});
  auto repository = Open(github.options());
  ASSERT_TRUE(repository->Versions({}).ok());
  github.AnswerApiWith(TextResponse(200, R"([{"tag_name": "v1.13.0"}])", "application/json"));
  EXPECT_THAT(Texts(repository->Versions({}).value()), ElementsAre("v1.13.0"));
}

TEST(OpenGitHub, RefusesADownloadLinkWithTheRightForm) {
  for (std::string_view url :
       {"https://github.com/o/r/releases/download/v1.2.3/f.yaml", "https://github.com/o/r/releases/v1.2.3/"}) {
    auto got = OpenGitHub(url, {});
    ASSERT_FALSE(got.ok()) << url;
    EXPECT_THAT(got.error().message,
                HasSubstr("https://github.com/o/r/releases/{latest|version-tag}/{components.yaml}"));
  }
}

// The files of a provider's releases, through the API's lists and downloads.
TEST(GitHub, ServesReleases) {
  CAPI_NEED_RELEASES("cluster-api");
  std::vector<api::ReleaseFolder> folders = api::AllReleases();
  std::erase_if(folders, [](const api::ReleaseFolder& folder) { return folder.Label() != "cluster-api"; });
  std::vector<GitHubRelease> releases;
  for (const api::ReleaseFolder& folder : folders) {
    releases.push_back(
        {.tag = folder.version,
         .assets = {{"metadata.yaml", folder.Text("metadata.yaml")}, {"core-components.yaml", folder.Components()}}});
  }
  GitHubStandIn github(releases);
  auto repository = Open(github.options());
  auto versions = repository->Versions({});
  ASSERT_TRUE(versions.ok()) << versions.error().message;
  ASSERT_EQ(versions->size(), folders.size());
  for (const api::ReleaseFolder& folder : folders) {
    auto got = GetRelease({}, *repository, V(folder.version));
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->components, folder.Components());
    EXPECT_EQ(got->metadata, folder.Text("metadata.yaml"));
  }
}

}  // namespace
}  // namespace capi::fetch
