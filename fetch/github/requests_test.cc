// I17: what is asked of GitHub, and how often. The API answers sixty requests an hour without a token.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/encoding.h"
#include "base/strings.h"
#include "fetch/github/known_answers.h"
#include "fetch/github_testing.h"
#include "fetch/versions_testing.h"

namespace capi::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "api /path", for each request to the API and to the web site.
std::vector<std::string> Asked(const GitHubStandIn& github) {
  std::vector<std::string> out;
  for (const SeenRequest& request : github.seen()) {
    if (request.host != "objects") out.push_back(request.host + " " + request.target);
  }
  return out;
}

size_t CountApi(const GitHubStandIn& github, int status = 0) {
  const auto seen = github.seen();
  return static_cast<size_t>(std::count_if(seen.begin(), seen.end(), [status](const SeenRequest& request) {
    return request.host == "api" && (status == 0 || request.status == status);
  }));
}

size_t CountListed(const GitHubStandIn& github) {
  const auto asked = Asked(github);
  return static_cast<size_t>(std::count(asked.begin(), asked.end(), "api /repos/o/r/releases?per_page=100"));
}

GitHubRelease Named(std::string tag) {
  GitHubRelease release = Release(std::move(tag));
  release.digest = "sha256:" + Sha256Hex(release.assets.at("core-components.yaml"));
  release.digest_of = "core-components.yaml";
  return release;
}

constexpr std::string_view kTags = "web /o/r.git/info/refs?service=git-upload-pack";

TEST(GitHubRequests, VersionsAreTheTagsAndTheApiIsNotAsked_I17) {
  GitHubStandIn github({Release("v1.11.0"), Release("v1.12.0-rc.0"), Release("v1.10.3"), Release("1.9.0")});
  github.ServeTags({"v1.2", "test/v1.13.0", "nightly"});
  EXPECT_THAT(Texts(Open(github.options())->Versions({})), ElementsAre("v1.9.0", "v1.10.3", "v1.11.0", "v1.12.0-rc.0"));
  EXPECT_THAT(Asked(github), ElementsAre(kTags));
}

// I3: a tag whose release isn't there yet is passed over.
TEST(GitHubRequests, ATagWithoutAReleaseIsNotTheLatest_I3) {
  GitHubStandIn github({Release("v1.11.0")});
  github.ServeTags({"v1.11.1"});
  auto latest = LatestVersion({}, *Open(github.options()), {});
  ASSERT_TRUE(latest.ok()) << latest.error().message;
  EXPECT_EQ(latest->ToString(), "v1.11.0");
  EXPECT_EQ(CountApi(github), 1u) << "for the digests of the release that is there";
}

// I3: a fork that was given its origin's tags; and the same within one contract. The releases are listed once.
TEST(GitHubRequests, TagsWithoutReleasesHideNone_I3) {
  const std::vector<std::string> newer = {"v2.8.5", "v2.8.4", "v2.8.3", "v2.8.2", "v2.8.1", "v2.8.0"};
  const std::vector<std::string> of_contract = {"v1.10.9", "v1.10.8", "v1.10.7", "v1.10.6", "v1.10.5", "v1.10.4"};
  struct Case {
    std::vector<std::string> others, contracts;
    std::string want;
  };
  const Case cases[] = {{newer, {}, "v1.11.0"}, {newer, {"v1beta1"}, "v1.10.3"}, {of_contract, {"v1beta1"}, "v1.10.3"}};
  for (const Case& c : cases) {
    for (bool of_proxy : {false, true}) {
      SCOPED_TRACE(c.others.front() + c.want);
      GitHubStandIn github({Release("v1.11.0"), Release("v1.10.3")});
      github.ServeTags(c.others);
      auto proxy = http::Server::Start({}, [&](const http::ServerRequest& request) {
        const bool first = request.path == "/github.com/o/r/@v/list";
        return first ? TextResponse(200, Join(c.others, "\n") + "\nv1.11.0\nv1.10.3\n") : TextResponse(404, "");
      });
      ASSERT_TRUE(proxy.ok());
      GitHubOptions options = github.options();
      if (of_proxy) options.module_proxy = "http://" + (*proxy)->address();
      auto latest = LatestVersion({}, *Open(options), c.contracts);
      ASSERT_TRUE(latest.ok()) << latest.error().message;
      EXPECT_EQ(latest->ToString(), c.want);
      EXPECT_EQ(CountListed(github), 1u);
    }
  }
}

// Where the API has listed them already it isn't asked for the same again; one that can't be asked is told.
TEST(GitHubRequests, ReleasesAreListedOnceWhereThereIsNone_I3) {
  for (std::string_view token : {std::string_view(), kToken}) {
    GitHubStandIn github(std::vector<GitHubRelease>{{.tag = "v1.11.0", .assets = {}}});
    auto latest = LatestVersion({}, *Open(github.options(std::string(token))), {});
    EXPECT_EQ(latest.code(), Code::kNotFound);
    EXPECT_THAT(latest.error().message, HasSubstr("the five newest were tried"));
    EXPECT_EQ(CountListed(github), 1u);
  }
  GitHubStandIn github({});
  github.ServeTags({"v1.11.0"});
  github.AnswerApiWith(RateLimited());
  EXPECT_EQ(LatestVersion({}, *Open(github.options()), {}).code(), Code::kRateLimited);
}

// I12: the list says how it is written.
TEST(GitHubRequests, ATagWithoutVIsAskedForAsItIs_I12) {
  GitHubRelease bare = Release("1.9.0");
  bare.digest = "sha256:0";
  bare.digest_of = "core-components.yaml";
  GitHubStandIn github({bare});
  github.ServeTags();
  auto repository = Open(github.options());
  ASSERT_TRUE(repository->Versions({}).ok());
  EXPECT_TRUE(repository->File({}, V("v1.9.0"), "metadata.yaml").ok());
  EXPECT_THAT(Asked(github), ElementsAre(kTags, "web /o/r/releases/download/1.9.0/metadata.yaml",
                                         "api /repos/o/r/releases/tags/1.9.0"));
  EXPECT_EQ(Open(github.options())->File({}, V("v1.9.0"), "core-components.yaml").code(), Code::kFailedPrecondition)
      << "T6: its digest counts, though nobody has listed it";
}

// What has no git server (a mirror), or doesn't show it to everybody, has its API asked; also where it, of another host
// than the API's, is in trouble with a path that it never had to know.
TEST(GitHubRequests, TheApiListsWhereThereAreNoTags_I17) {
  const http::Response cases[] = {
      TextResponse(404, ""),
      TextResponse(401, "Repository not found."),
      TextResponse(403, ""),
      TextResponse(200, "<html>", "text/html"),
      TextResponse(200, RefsOf({"v6.6.6"}), "text/plain"),
      TextResponse(200, "001e# service=git-upload-pack\n0000", "application/x-git-upload-pack-advertisement"),
      TextResponse(429, ""),
      TextResponse(503, ""),
  };
  for (const http::Response& answer : cases) {
    SCOPED_TRACE(std::to_string(answer.status) + answer.body);
    auto web = http::Server::Start({}, [&answer](const http::ServerRequest&) { return answer; });
    ASSERT_TRUE(web.ok());
    GitHubStandIn github({Release("v1.11.0")});
    GitHubOptions options = github.options();
    options.download_url = "http://" + (*web)->address();
    EXPECT_THAT(Texts(Open(options)->Versions({})), ElementsAre("v1.11.0"));
    EXPECT_EQ(CountApi(github), 1u);
  }
}

// Of a mirror that is away it is told, and of what the API behind it said beside that.
TEST(GitHubRequests, AMirrorThatIsAwayIsTold_I17) {
  for (const auto& [status, wait] :
       {std::pair(503, std::optional<Millis>()), std::pair(429, std::optional<Millis>(Seconds(60)))}) {
    auto mirror = http::Server::Start({}, [](const http::ServerRequest&) { return TextResponse(503, ""); });
    ASSERT_TRUE(mirror.ok());
    GitHubStandIn github({Release("v1.11.0")});
    github.AnswerApiWith(status == 429 ? RateLimited() : TextResponse(503, ""));
    GitHubOptions options = github.options();
    options.download_url = "http://" + (*mirror)->address();
    const auto versions = Open(options)->Versions({});
    ASSERT_FALSE(versions.ok());
    EXPECT_EQ(versions.code(), Code::kUnavailable);
    EXPECT_EQ(versions.error().retry_after, wait);
    for (const std::string& host : {options.download_url, options.api_url})
      EXPECT_THAT(versions.error().message, HasSubstr(host + ": "));
  }
}

// A server that is away, or limits requests, isn't asked at another door.
TEST(GitHubRequests, AServerThatIsAwayIsAskedOnce_I17) {
  for (const auto& [status, code] : {std::pair(429, Code::kRateLimited), std::pair(503, Code::kUnavailable)}) {
    std::atomic<int> asked = 0;
    auto server = http::Server::Start({}, [&asked, away = status](const http::ServerRequest& request) {
      ++asked;
      return request.path.starts_with("/api/") ? TextResponse(200, "[]", "application/json") : TextResponse(away, "");
    });
    ASSERT_TRUE(server.ok());
    GitHubOptions options;
    options.download_url = "http://" + (*server)->address();
    options.api_url = options.download_url + "/api/v3";
    EXPECT_EQ(Open(options)->Versions({}).code(), code);
    EXPECT_EQ(asked, 1);
  }
}

// I12: a tag of each spelling, one of them another thing's (a Go module's): either may be the release.
TEST(GitHubRequests, OfTwoTagsOfOneVersionEitherMayBeTheRelease_I12) {
  for (const char* released : {"1.9.0", "v1.9.0"}) {
    GitHubStandIn github({Release(released), Release("v1.8.0")});
    github.ServeTags({"v1.9.0", "1.9.0"});
    auto repository = Open(github.options());
    auto latest = LatestVersion({}, *repository, {});
    ASSERT_TRUE(latest.ok()) << latest.error().message;
    EXPECT_EQ(latest->ToString(), "v1.9.0");
    EXPECT_TRUE(repository->File({}, *latest, "core-components.yaml").ok());
  }
}

// F2: a list of 10,000 tags, from the request to the versions.
TEST(GitHubRequests, TenThousandTagsAreListedAndNoMore_F2) {
  GitHubStandIn github({});
  std::vector<std::string> tags;
  for (int i = 0; i < 10'001; ++i) tags.push_back("v1." + std::to_string(i) + ".0");
  const std::string one_more = tags.back();
  tags.pop_back();
  github.ServeTags(tags);
  auto versions = Open(github.options())->Versions({});
  ASSERT_TRUE(versions.ok()) << versions.error().message;
  EXPECT_EQ(versions->size(), 10'000u);
  tags.push_back(one_more);
  github.ServeTags(tags);
  EXPECT_THAT(Texts(Open(github.options())->Versions({})), IsEmpty()) << "the API's list counts, which has none";
}

// The figure: three requests for a release of a public repository and of a private one, with a token or without.
TEST(GitHubRequests, AReleaseTakesThree_I17) {
  for (bool with_token : {false, true}) {
    for (bool is_private : {false, true}) {
      if (is_private && !with_token) continue;
      SCOPED_TRACE(is_private);
      GitHubStandIn github({Named("v1.11.0")});
      github.ServeTags();
      if (is_private) github.MakePrivate();
      auto release = GetRelease({}, *Open(github.options(with_token ? std::string(kToken) : "")), V("v1.11.0"));
      ASSERT_TRUE(release.ok()) << release.error().message;
      EXPECT_EQ(Asked(github).size(), 3u);
    }
  }
}

// The figure: within the sixty requests that GitHub's API answers in an hour without a token, fifty providers have
// their versions looked up, and the newest fetched as the operator does, with a look of its own. Where the newest
// release is of another contract than the core's, so that its metadata chooses an older one, thirty have.
TEST(GitHubRequests, FiftyProvidersTakeNoMoreThanSixtyOfTheApi_I17) {
  struct Case {
    std::string contract, latest;
    size_t providers, asked;
  };
  std::vector<GitHubRelease> releases = {Named("v1.10.3")};
  for (int i = 0; i < 300; ++i) releases.push_back(Named("v1.11." + std::to_string(i)));
  for (const Case& c : {Case{"v1beta2", "v1.11.299", 50, 50}, Case{"v1beta1", "v1.10.3", 30, 60}}) {
    SCOPED_TRACE(c.contract);
    GitHubStandIn github(releases);
    github.ServeTags();
    github.UseETags("public, max-age=60, s-maxage=60");
    GitHubOptions options = github.options();
    options.digests = std::make_shared<NamedDigests>();
    options.answers = std::make_shared<GitHubAnswers>();
    for (size_t i = 0; i < c.providers; ++i) {
      const std::string url = "https://github.com/o/r" + std::to_string(i) + "/releases/latest/core-components.yaml";
      auto latest = LatestVersion({}, *Open(options, url), {c.contract});
      ASSERT_TRUE(latest.ok()) << latest.error().message;
      EXPECT_EQ(latest->ToString(), c.latest);
      ASSERT_TRUE(GetRelease({}, *Open(options, url), *latest).ok());
    }
    EXPECT_EQ(CountApi(github), c.asked);
  }
}

// And the same fifty, four minor versions behind, are looked at without any: nothing of it is installed (U12), and
// those that do install something have all sixty.
TEST(GitHubRequests, ALookForNewerVersionsTakesNoneOfTheApi_I17_U12) {
  std::vector<GitHubRelease> releases;
  std::string series = "releaseSeries:\n";
  for (int minor = 10; minor < 15; ++minor) series += fmt::format("- {{major: 1, minor: {}, contract: c}}\n", minor);
  for (int minor = 10; minor < 15; ++minor) {
    releases.push_back(Named(fmt::format("v1.{}.0", minor)));
    releases.back().assets["metadata.yaml"] = series;
  }
  GitHubStandIn github(releases);
  github.ServeTags();
  GitHubOptions options = github.options();
  options.asks_digests = false;
  options.answers = std::make_shared<GitHubAnswers>();
  for (int i = 0; i < 50; ++i) {
    auto newer = NewerVersions({}, *Open(options, fmt::format("https://github.com/o/r{}/releases/latest/c.yaml", i)),
                               V("v1.10.0"));
    ASSERT_TRUE(newer.ok()) << newer.error().message;
    EXPECT_EQ(newer->size(), 4u);
  }
  EXPECT_EQ(CountApi(github), 0u);
}

// The list of one repository is shared by its providers for as long as GitHub says that it holds; then GitHub is asked
// whether it still does, which costs nothing with a token.
TEST(GitHubRequests, AListIsSharedAndAskedForByItsETag_I17) {
  FakeClock clock;
  Context ctx;
  ctx.clock = &clock;
  GitHubStandIn github({Named("v1.11.0"), Named("v1.10.3"), Named("v1.10.2")});
  github.UseETags("private, max-age=60");
  GitHubOptions options = github.options(std::string(kToken));
  options.answers = std::make_shared<GitHubAnswers>();
  auto look = [&](std::string_view file) {
    const std::string url = "https://github.com/o/r/releases/latest/" + std::string(file);
    auto repository = Open(options, url);
    EXPECT_THAT(Texts(repository->Versions(ctx)), ElementsAre("v1.10.2", "v1.10.3", "v1.11.0"));
    return repository;
  };
  look("core-components.yaml");
  EXPECT_EQ(CountApi(github), 2u) << "two pages";
  look("bootstrap-components.yaml");
  EXPECT_EQ(CountApi(github), 2u);
  clock.Advance(Seconds(60));
  auto repository = look("core-components.yaml");
  EXPECT_EQ(CountApi(github), 4u);
  EXPECT_EQ(CountApi(github, 304), 2u);
  EXPECT_EQ(repository->File(ctx, V("v1.10.2"), "core-components.yaml").value(), "kind: Namespace\n")
      << "what was kept names the assets";
  // Another token's answers are its own.
  options.token = "ghp_other";
  const size_t before = CountApi(github, 200);
  look("core-components.yaml");
  EXPECT_EQ(CountApi(github, 200), before + 2);
}

// T14: an answer that was kept for a provider without keys names the signatures to one with keys, at once and after it
// was asked for by its ETag. What isn't kept of an answer isn't looked for in one that was.
TEST(GitHubRequests, AKeptAnswerNamesAllThatIsReadOfARelease_I17_T14_T6) {
  FakeClock clock;
  Context ctx;
  ctx.clock = &clock;
  GitHubRelease release = Release("v1.11.0");
  release.assets["metadata.yaml.sig"] = "of the metadata";
  release.assets["core-components.yaml.sigstore.json"] = "of the components";
  release.assets["components.txt"] = "kind: Namespace\n";
  release.digest = "sha256:" + std::string(64, '0');
  release.digest_of = "components.txt";
  GitHubStandIn github({release});
  github.MakePrivate();
  github.UseETags("private, max-age=60");
  GitHubOptions options = github.options(std::string(kToken));
  options.answers = std::make_shared<GitHubAnswers>();
  ASSERT_TRUE(GetRelease(ctx, *Open(options), V("v1.11.0")).ok());
  options.signatures = true;
  for (bool holds : {true, false}) {
    SCOPED_TRACE(holds);
    if (!holds) clock.Advance(Seconds(60));
    auto got = GetRelease(ctx, *Open(options), V("v1.11.0"), true);
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->signatures, (api::Signatures{{"components.sigstore.json", "of the components"},
                                                {"metadata.sig", "of the metadata"}}));
  }
  EXPECT_EQ(CountApi(github, 304), 2u) << "kept with signatures, too; and asked for those that it doesn't name (T6)";
  options.signatures = false;
  auto other = Open(options, "https://github.com/o/r/releases/latest/components.txt");
  EXPECT_EQ(other->File(ctx, V("v1.11.0"), "components.txt").code(), Code::kFailedPrecondition);
}

// A changed answer is taken once the one before doesn't hold any more, and so is a changed asset's digest (T6); it is
// kept in the place of that one.
TEST(GitHubRequests, WhatHasChangedIsSeen_I17_T6) {
  FakeClock clock;
  Context ctx;
  ctx.clock = &clock;
  GitHubStandIn github({Named("v1.11.0")});
  github.UseETags("max-age=60");
  GitHubOptions options = github.options();
  options.answers = std::make_shared<GitHubAnswers>();
  auto look = [&](std::string_view newest, bool is_right) {
    auto repository = Open(options);
    auto versions = repository->Versions(ctx);
    ASSERT_TRUE(versions.ok()) << versions.error().message;
    EXPECT_EQ(versions->back().ToString(), newest);
    auto file = repository->File(ctx, V("v1.11.0"), "core-components.yaml");
    EXPECT_EQ(file.ok(), is_right);
    if (!file.ok()) {
      EXPECT_EQ(file.code(), Code::kFailedPrecondition);
    }
  };
  look("v1.11.0", true);
  github.AnswerApiWith(TextResponse(200,
                                    R"([{"tag_name": "v1.12.0"}, {"tag_name": "v1.11.0", "assets": [)"
                                    R"({"id": 1, "name": "core-components.yaml", "digest": "sha256:0"}]}])",
                                    "application/json"));
  look("v1.11.0", true);
  EXPECT_EQ(CountListed(github), 1u);
  clock.Advance(Seconds(60));
  look("v1.12.0", false);
  EXPECT_EQ(CountListed(github), 2u);
  look("v1.12.0", false);
  EXPECT_EQ(CountListed(github), 2u);
  EXPECT_EQ(CountApi(github, 304), 0u);
}

// F1: who was told when the limit ends asks nothing until then, and says it each time; whichever provider it was.
TEST(GitHubRequests, NobodyAsksBeforeTheLimitResets_I17_F1) {
  const std::pair<std::string_view, std::string_view> cases[] = {{"X-RateLimit-Reset", "1700000900"},
                                                                 {"Retry-After", "900"}};
  for (int status : {403, 429}) {
    for (const auto& [header, value] : cases) {
      SCOPED_TRACE(header);
      FakeClock clock;  // at 1700000000
      Context ctx;
      ctx.clock = &clock;
      GitHubStandIn github({Named("v1.11.0")});
      github.MakePrivate();
      http::Response limit = TextResponse(status, "{}", "application/json");
      limit.headers.Set("X-RateLimit-Remaining", "0");
      limit.headers.Set(header, value);
      github.AnswerApiWith(limit);
      GitHubOptions options = github.options(std::string(kToken));
      options.answers = std::make_shared<GitHubAnswers>();
      EXPECT_EQ(Open(options)->Versions(ctx).error().retry_after, Seconds(900));
      github.AnswerApi();
      clock.Advance(Seconds(600));
      auto file = Open(options, "https://github.com/o/other/releases/latest/core-components.yaml")
                      ->File(ctx, V("v1.11.0"), "core-components.yaml");
      ASSERT_FALSE(file.ok());
      EXPECT_EQ(file.code(), Code::kRateLimited);
      EXPECT_EQ(file.error().retry_after, Seconds(300));
      EXPECT_THAT(file.error().message, HasSubstr("the limit resets at 2023-11-14T22:28:20Z"));
      EXPECT_EQ(CountApi(github), 1u);
      clock.Advance(Seconds(300));
      EXPECT_THAT(Texts(Open(options)->Versions(ctx)), ElementsAre("v1.11.0"));
    }
  }
}

// A module proxy is asked where one is named, and where there is no token: it shall not learn of private repositories.
TEST(GitHubRequests, AModuleProxyIsAskedFirst_I17) {
  std::atomic<int> asked = 0, status = 200;
  auto proxy = http::Server::Start({}, [&](const http::ServerRequest& request) {
    ++asked;
    if (request.path != "/github.com/o/r/@v/list") return TextResponse(404, "");
    return TextResponse(status, "v1.10.3\n");
  });
  ASSERT_TRUE(proxy.ok());
  GitHubStandIn github({Release("v1.11.0")});
  github.ServeTags();
  GitHubOptions options = github.options();
  options.module_proxy = "http://" + (*proxy)->address();
  EXPECT_THAT(Texts(Open(options)->Versions({})), ElementsAre("v1.10.3"));
  EXPECT_THAT(Asked(github), IsEmpty());
  for (int other : {404, 500}) {
    status = other;
    EXPECT_THAT(Texts(Open(options)->Versions({})), ElementsAre("v1.11.0"));
  }
  status = 200;
  options.token = kToken;
  asked = 0;
  EXPECT_THAT(Texts(Open(options)->Versions({})), ElementsAre("v1.11.0"));
  EXPECT_EQ(asked, 0);
}

// F2: an asset of 50 MB is refused by the bound of a file, however it comes, before it is all there.
TEST(GitHubRequests, AnAssetOfFiftyMegabytesIsRefused_F2) {
  GitHubRelease release = Release("v1.11.0");
  release.assets["core-components.yaml"].assign(50'000'000, '#');
  GitHubStandIn github({release});
  for (std::string_view token : {std::string_view(), kToken}) {
    auto file = Open(github.options(std::string(token)))->File({}, V("v1.11.0"), "core-components.yaml");
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.code(), Code::kInvalidArgument) << file.error().message;
  }
}

}  // namespace
}  // namespace capi::fetch
