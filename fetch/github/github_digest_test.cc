// The digests that GitHub names for files of releases (behaviour.md T6).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/encoding.h"
#include "base/strings.h"
#include "fetch/github/known_answers.h"
#include "fetch/github_testing.h"
#include "fetch/repository.h"

namespace capi::fetch {
namespace {

using testing::HasSubstr;

// Of the API, and not for a file.
bool IsQuestion(const SeenRequest& request) {
  return request.host == "api" && request.target.find("/assets/") == std::string::npos;
}

// T6: one that can't be checked is as one that differs.
TEST(GitHubDigests, RefusesAFileOfAnotherDigestThanTheApiNames) {
  const std::string text = Release("v1.11.0").assets.at("core-components.yaml");
  const std::string good = Sha256Hex(text), other = Sha256Hex(text + "x");
  const std::pair<std::string, bool> cases[] = {{"", true},
                                                {"sha256:" + good, true},
                                                {"SHA256:" + ToUpper(good), true},
                                                {"sha256:" + other, false},
                                                {"sha512:" + good, false},
                                                {good, false}};
  for (const auto& [digest, ok] : cases) {
    GitHubRelease release = Release("v1.11.0");
    release.digest = digest;
    GitHubStandIn github({release});
    github.MakePrivate();
    auto file = Open(github.options(std::string(kToken)))->File({}, V("v1.11.0"), "core-components.yaml");
    ASSERT_EQ(file.ok(), ok) << digest;
    if (ok) continue;
    EXPECT_EQ(file.code(), Code::kFailedPrecondition) << "the same file comes with the next try";
    EXPECT_THAT(file.error().message, HasSubstr("does not have the digest that GitHub names"));
  }
}

// T6: of a download by name, too, whether the list of versions has named the digest or nobody was asked before.
TEST(GitHubDigests, RefusesADownloadOfAnotherDigestThanTheApiNames) {
  const std::string good = "sha256:" + Sha256Hex(Release("v1.11.0").assets.at("core-components.yaml"));
  for (const std::string& digest : {good, std::string("sha256:0"), std::string(5'000, 'x')}) {
    for (bool listed : {true, false}) {
      GitHubRelease release = Release("v1.11.0");
      release.digest = digest;
      GitHubStandIn github({release});
      auto repository = Open(github.options());
      if (listed) {
        ASSERT_TRUE(repository->Versions({}).ok());
      }
      auto file = repository->File({}, V("v1.11.0"), "core-components.yaml");
      ASSERT_EQ(file.ok(), digest == good) << digest;
      if (!file.ok()) {
        EXPECT_EQ(file.code(), Code::kFailedPrecondition);
      }
      auto api = [](const SeenRequest& request) { return request.host == "api"; };
      auto seen = github.seen();
      EXPECT_EQ(std::count_if(seen.begin(), seen.end(), api), 1) << "what the list has said isn't asked again";
    }
  }
}

// T6: an API that is away doesn't let in what it has named another digest for; nor does it keep out anything else.
TEST(GitHubDigests, ADigestThatWasNamedOnceCountsWhileTheApiIsAway) {
  GitHubRelease release = Release("v1.11.0");
  release.digest = "sha256:0";
  release.digest_of = "core-components.yaml";
  GitHubStandIn github({release, Release("v1.10.3")});
  GitHubOptions options = github.options();
  options.digests = std::make_shared<NamedDigests>();
  auto code = [&](const GitHubOptions& with, std::string_view version, std::string_view name) {
    auto file = Open(with)->File({}, V(version), name);
    return file.ok() ? "" : CodeName(file.code());
  };
  const std::string_view refused = CodeName(Code::kFailedPrecondition);
  EXPECT_EQ(code(options, "v1.11.0", "core-components.yaml"), refused);
  github.AnswerApiWith(RateLimited());
  EXPECT_EQ(code(options, "v1.11.0", "core-components.yaml"), refused);
  EXPECT_EQ(code(options, "v1.11.0", "metadata.yaml"), "");
  EXPECT_EQ(code(options, "v1.10.3", "core-components.yaml"), "");
  EXPECT_EQ(code(github.options(), "v1.11.0", "core-components.yaml"), "") << "nobody has named one";
  github.AnswerApi();
  EXPECT_EQ(code(github.options(), "v1.11.0", "core-components.yaml"), refused);
}

// T6: what the API says when the metadata is fetched counts for the components, though it is away by then: however the
// metadata came, and in whichever look. (A look that ended between the two forgot what the list had named; and metadata
// that came by the API let in any components.)
TEST(GitHubDigests, WhatIsNamedOfOneFileCountsForTheOthers) {
  for (bool by_api : {false, true}) {
    for (bool one_look : {false, true}) {
      SCOPED_TRACE(fmt::format("by the API: {}, one look: {}", by_api, one_look));
      GitHubRelease release = Release("v1.11.0");
      release.digest = "sha256:0";
      release.digest_of = "core-components.yaml";
      GitHubStandIn github({release});
      GitHubOptions options = github.options("token");
      options.digests = std::make_shared<NamedDigests>();
      auto repository = Open(options);
      if (by_api) github.MakePrivate();
      ASSERT_TRUE(repository->File({}, V("v1.11.0"), "metadata.yaml").ok());
      github.MakePublic();
      github.AnswerApiWith(RateLimited());
      if (!one_look) repository = Open(options);
      auto file = repository->File({}, V("v1.11.0"), "core-components.yaml");
      ASSERT_FALSE(file.ok());
      EXPECT_EQ(file.code(), Code::kFailedPrecondition);
    }
  }
}

// T6: a list names files of hundreds of releases that nobody fetches. Those of the ones that were fetched stay known.
TEST(GitHubDigests, AListForgetsNothingThatWasNamed) {
  std::vector<GitHubRelease> releases;
  for (int i = 0; i < 510; ++i) releases.push_back(Release(fmt::format("v1.10.{}", i)));
  for (GitHubRelease& release : releases) release.digest = "sha256:0";
  GitHubStandIn github(releases);
  GitHubOptions options = github.options();
  options.digests = std::make_shared<NamedDigests>();
  auto code = [&] { return Open(options)->File({}, V("v1.10.0"), "core-components.yaml").code(); };
  ASSERT_EQ(code(), Code::kFailedPrecondition);
  auto versions = Open(options)->Versions({});
  ASSERT_TRUE(versions.ok()) << versions.error().message;
  EXPECT_EQ(versions->size(), releases.size());
  github.AnswerApiWith(RateLimited());
  EXPECT_EQ(code(), Code::kFailedPrecondition);
}

// T6: however a file came, what the API named for it then counts when it comes by name and nobody can be asked.
TEST(GitHubDigests, WhatIsNamedOfAFileThatCameByTheApiCountsToo) {
  GitHubRelease release = Release("v1.11.0");
  release.digest = "sha256:" + Sha256Hex(release.assets.at("core-components.yaml"));
  release.digest_of = "core-components.yaml";
  GitHubStandIn github({release});
  GitHubOptions options = github.options("token");
  options.digests = std::make_shared<NamedDigests>();
  auto file = [&] { return Open(options)->File({}, V("v1.11.0"), "core-components.yaml"); };
  github.MakePrivate();
  ASSERT_TRUE(file().ok()) << file().error().message;
  github.MakePublic();
  github.AnswerApiWith(RateLimited());
  EXPECT_TRUE(file().ok());
  github.AnswerDownloadsWith("another one");
  EXPECT_EQ(file().code(), Code::kFailedPrecondition);
}

// T6: a file beside the two that the API is asked about would have been taken unchecked, though it names a digest for
// it.
TEST(GitHubDigests, NoOtherFileIsRead) {
  GitHubRelease release = Release("v1.11.0");
  release.assets["other.yaml"] = "kind: Other\n";
  release.digest = "sha256:0";
  release.digest_of = "other.yaml";
  GitHubStandIn github({release});
  for (std::string_view name : {"other.yaml", ""}) {
    auto file = Open(github.options())->File({}, V("v1.11.0"), name);
    ASSERT_FALSE(file.ok()) << name;
    EXPECT_EQ(file.code(), Code::kInvalidArgument);
    EXPECT_THAT(file.error().message, HasSubstr("the files that are read of a release: metadata.yaml, core-comp"));
  }
  EXPECT_THAT(github.seen(), testing::IsEmpty());
}

// T6: of a private repository, too. (It was asked for each file, which took two of the sixty requests of an hour more.)
TEST(GitHubDigests, TheApiIsAskedOnceForAReleaseThatComesByIt) {
  for (bool listed : {false, true}) {
    SCOPED_TRACE(listed);
    GitHubRelease release = Release("v1.11.0");
    release.digest = "sha256:" + Sha256Hex(release.assets.at("core-components.yaml"));
    release.digest_of = "core-components.yaml";
    GitHubStandIn github({release});
    github.MakePrivate();
    GitHubOptions options = github.options(std::string(kToken));
    options.digests = std::make_shared<NamedDigests>();
    auto repository = Open(options);
    if (listed) {
      ASSERT_TRUE(repository->Versions({}).ok());
    }
    auto got = GetRelease({}, *repository, V("v1.11.0"));
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->components, release.assets.at("core-components.yaml"));
    const auto seen = github.seen();
    EXPECT_EQ(std::count_if(seen.begin(), seen.end(), IsQuestion), 1);

    github.MakePublic();
    github.AnswerApiWith(RateLimited());
    github.AnswerDownloadsWith("another one");
    EXPECT_EQ(Open(options)->File({}, V("v1.11.0"), "core-components.yaml").code(), Code::kFailedPrecondition)
        << "what was named counts in other looks";
  }
}

// What a list has said of a release without the file, or of one whose tag has no "v", was asked for again.
TEST(GitHubDigests, WhatAListHasSaidIsNotAskedAgain) {
  GitHubRelease bare = Release("1.9.0"), empty = Release("v1.12.0");
  bare.digest = "sha256:" + Sha256Hex(bare.assets.at("core-components.yaml"));
  bare.digest_of = "core-components.yaml";
  empty.assets.erase("metadata.yaml");
  GitHubStandIn github({empty, bare});
  github.MakePrivate();
  auto repository = Open(github.options(std::string(kToken)));
  ASSERT_TRUE(repository->Versions({}).ok());
  EXPECT_EQ(repository->File({}, V("v1.12.0"), "metadata.yaml").code(), Code::kNotFound);
  EXPECT_TRUE(repository->File({}, V("v1.9.0"), "core-components.yaml").ok());
  const auto seen = github.seen();
  EXPECT_EQ(std::count_if(seen.begin(), seen.end(), IsQuestion), 1) << "for the list";
}

// T6, I17: the answer that still holds is of before the file was uploaded, or replaced. It neither lets it in unchecked
// nor keeps it out.
TEST(GitHubDigests, WhatIsHeldDoesNotSpeakOfAFileThatCameSince) {
  const std::string good = "sha256:" + Sha256Hex(Release("v1.11.0").assets.at("core-components.yaml"));
  const std::string_view former[] = {
      R"({"tag_name": "v1.11.0", "assets": []})",
      R"({"tag_name": "v1.11.0", "assets": [{"id": 99, "name": "core-components.yaml", "digest": "sha256:1"}]})",
      R"({"tag_name": "v1.11.0", "assets": [{"id": 99, "name": "core-components.yaml", "size": 3}]})"};
  for (std::string_view held : former) {
    for (const std::string& digest : {good, std::string("sha256:0")}) {
      for (bool is_private : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {}", held, digest, is_private));
        GitHubRelease release = Release("v1.11.0");
        release.digest = digest;
        release.digest_of = "core-components.yaml";
        GitHubStandIn github({release});
        github.UseETags("max-age=60");
        if (is_private) github.MakePrivate();
        GitHubOptions options = github.options(is_private ? std::string(kToken) : "");
        options.answers = std::make_shared<GitHubAnswers>();
        options.digests = std::make_shared<NamedDigests>();
        github.AnswerApiWith(TextResponse(200, std::string(held), "application/json"));
        (void)Open(options)->File({}, V("v1.11.0"), "core-components.yaml");  // while it is published
        github.AnswerApi();
        auto repository = Open(options);
        for (int i = 0; i < 2; ++i) {
          auto file = repository->File({}, V("v1.11.0"), "core-components.yaml");
          EXPECT_EQ(file.ok() ? "" : CodeName(file.code()), digest == good ? "" : CodeName(Code::kFailedPrecondition));
        }
        const auto seen = github.seen();
        EXPECT_EQ(std::count_if(seen.begin(), seen.end(), IsQuestion), 2) << "one more, whatever it says";
      }
    }
  }
}

// T6: an answer without the file, while it is replaced, doesn't forget what was named for it.
TEST(GitHubDigests, AnAnswerWithoutTheFileForgetsNothing) {
  GitHubRelease release = Release("v1.11.0");
  release.digest = "sha256:0";
  release.digest_of = "core-components.yaml";
  GitHubStandIn github({release});
  GitHubOptions options = github.options();
  options.digests = std::make_shared<NamedDigests>();
  auto code = [&] { return Open(options)->File({}, V("v1.11.0"), "core-components.yaml").code(); };
  ASSERT_EQ(code(), Code::kFailedPrecondition);
  github.AnswerApiWith(TextResponse(200, R"({"tag_name": "v1.11.0", "assets": []})", "application/json"));
  EXPECT_EQ(code(), Code::kFailedPrecondition);
}

// T6: the oldest go, whatever their names.
TEST(NamedDigests, AreOfTheLastThousandFiles) {
  NamedDigests digests;
  auto name = [](int i) { return std::to_string(5'000 - i); };
  for (int i = 0; i < 2'000; ++i) digests.Put(name(i), "sha256:" + std::to_string(i));
  for (int i = 0; i < 2'000; ++i) EXPECT_EQ(!digests.Of(name(i)).empty(), i >= 1'000) << i;
  digests.Put(name(1'000), "sha256:new");
  digests.Put(name(2'000), "sha256:2000");
  EXPECT_EQ(digests.Of(name(1'000)), "sha256:new") << "it was named again";
  EXPECT_EQ(digests.Of(name(1'001)), "");
  digests.Put(name(2'000), "");
  EXPECT_EQ(digests.Of(name(2'000)), "");
  digests.Put(name(2'001), "sha256:2001");
  EXPECT_EQ(digests.Of(name(1'002)), "sha256:1002") << "there was room";
}

}  // namespace
}  // namespace capi::fetch
