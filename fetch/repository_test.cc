#include "fetch/repository.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/testing/vectors.h"
#include "fetch/newest.h"

namespace capi::fetch {
namespace {

using testing::HasSubstr;

// A repository of texts. Thread-compatible.
class TextRepository : public Repository {
 public:
  std::string Describe() const override { return "texts"; }
  std::string ComponentsFile() const override { return "core-components.yaml"; }
  Result<std::vector<api::Version>> Versions(const Context&) override {
    if (!listed) return Error{Code::kUnavailable, "no versions", {}};
    return versions;
  }
  Result<std::string> File(const Context&, const api::Version& version, std::string_view name) override {
    std::string key = version.ToString() + "/" + std::string(name);
    asked.push_back(key);
    if (failing.contains(version.ToString())) return Error{Code::kUnavailable, "transport failure", {}};
    if (forbidden.contains(version.ToString())) return Error{Code::kPermissionDenied, "HTTP 403", {}};
    if (wrong.contains(version.ToString())) return Error{Code::kFailedPrecondition, "another digest", {}};
    auto file = files.find(key);
    if (file == files.end()) return Error{Code::kNotFound, key + " is not there", {}};
    return file->second;
  }

  bool listed = true;
  std::vector<api::Version> versions;
  std::map<std::string, std::string> files;
  std::map<std::string, bool> failing, wrong, forbidden;
  std::vector<std::string> asked;
};

void Add(TextRepository& repository, std::string_view version) {
  auto parsed = api::Version::Parse(version);
  if (parsed.ok()) repository.versions.push_back(*parsed);  // repositories list only what parses
}

TextRepository FromVector(const Json& c) {
  TextRepository repository;
  repository.listed = c["versions"].is_array();
  if (repository.listed) {
    for (const Json& version : c["versions"]) Add(repository, version.get<std::string>());
  }
  std::sort(repository.versions.begin(), repository.versions.end());
  for (const auto& [tag, text] : c["releases"].items()) {
    if (text.is_string()) repository.files[tag + "/metadata.yaml"] = text.get<std::string>();
  }
  if (c.contains("failing")) {
    for (const Json& tag : c["failing"]) repository.failing[tag.get<std::string>()] = true;
  }
  return repository;
}

Result<api::Version> LatestOf(const Json& c) {
  TextRepository repository = FromVector(c);
  if (GetString(c, {"kind"}) == "contract") return LatestVersion({}, repository, {GetString(c, {"contract"})});
  // Kind "patch": the newest version of some series, so these are the ones with the contract.
  std::string metadata = "releaseSeries:\n";
  for (const api::Version& version : repository.versions) {
    bool wanted =
        (c["major"].is_null() || c["major"] == version.major) && (c["minor"].is_null() || c["minor"] == version.minor);
    metadata += fmt::format("- {{major: {}, minor: {}, contract: {}}}\n", version.major, version.minor,
                            wanted ? "wanted" : "other");
  }
  for (const api::Version& version : repository.versions)
    repository.files[version.ToString() + "/metadata.yaml"] = metadata;
  return LatestVersion({}, repository, {"wanted"});
}

TEST(LatestVersion, IsWhatTheVectorsSay) {
  auto reference = [](const Json&, const Json& c) {
    auto got = LatestOf(c);
    if (c.contains("error")) {
      ASSERT_FALSE(got.ok()) << got->ToString();
      EXPECT_THAT(got.error().message, HasSubstr(GetString(c, {"error"})));
      return;
    }
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->ToString(), GetString(c, {"want"}));
  };
  // Each of these has its own test below, too.
  const std::map<std::string, std::string> wanted = {
      {"R08e", "v1.3.2"}, {"R45", "v1.0.0"}, {"R48", "v1.1.10"}, {"R49", "v1.1.10"}, {"R50", "v1.4.0"}};
  RunVectors("latest.json", reference, [&](const Json&, const Json& c) {
    auto got = LatestOf(c);
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->ToString(), wanted.at(GetString(c, {"id"})));
  });
}

constexpr std::string_view kSeries =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    "- {major: 1, minor: 9, contract: v1beta1}\n- {major: 1, minor: 10, contract: v1beta1}\n"
    "- {major: 1, minor: 11, contract: v1beta2}\n- {major: 1, minor: 12, contract: v1beta2}\n";

TextRepository WithReleases(const std::vector<std::string>& versions) {
  TextRepository repository;
  for (const std::string& version : versions) {
    Add(repository, version);
    repository.files[version + "/metadata.yaml"] = kSeries;
  }
  return repository;
}

TEST(LatestVersion, PicksAStableVersionThatFitsTheContract_I3) {
  struct Case {
    std::string_view name;
    std::vector<std::string> versions, contracts;
    std::string_view want;
  };
  const Case cases[] = {
      {"any contract: the newest stable one", {"v1.10.0", "v1.11.0", "v1.12.0-rc.1"}, {}, "v1.11.0"},
      {"prereleases only: the newest of them", {"v1.12.0-rc.0", "v1.12.0-rc.1"}, {}, "v1.12.0-rc.1"},
      {"an older contract", {"v1.9.0", "v1.10.3", "v1.11.0"}, {"v1beta1"}, "v1.10.3"},
      {"the first of two contracts", {"v1.10.3", "v1.11.0"}, {"v1beta2", "v1beta1"}, "v1.11.0"},
      {"the second, where no series has the first", {"v1.10.3", "v1.11.0"}, {"v1gamma", "v1beta1"}, "v1.10.3"},
      {"stable before a newer series' prerelease", {"v1.11.2", "v1.12.0-beta.0"}, {"v1beta2"}, "v1.11.2"},
      {"a prerelease where no stable version fits", {"v1.10.3", "v1.11.0-rc.1"}, {"v1beta2"}, "v1.11.0-rc.1"},
      {"no series has it: the newest, which preflight then judges", {"v1.11.0"}, {"v1gamma"}, "v1.11.0"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    TextRepository repository = WithReleases(c.versions);
    auto got = LatestVersion({}, repository, c.contracts);
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->ToString(), c.want);
  }
}

TEST(LatestVersion, PassesOverReleasesThatAreStillBeingPublished) {
  TextRepository repository = WithReleases({"v1.11.0", "v1.11.1"});
  repository.files.erase("v1.11.1/metadata.yaml");
  EXPECT_EQ(LatestVersion({}, repository, {"v1beta2"})->ToString(), "v1.11.0");
}

// Whose versions are tags. Thread-compatible.
class Tags : public TextRepository {
 public:
  explicit Tags(TextRepository texts) : TextRepository(std::move(texts)) {}
  Result<std::optional<std::vector<api::Version>>> ReleasedVersions(const Context&) override {
    ++asked_for_releases;
    return released;
  }
  std::optional<std::vector<api::Version>> released;
  int asked_for_releases = 0;
};

// I3: five tags without releases are passed over, and asked for no more than once.
TEST(FirstReleased, GoesByWhatTheSourceSaysAreReleases_I3) {
  Tags repository(WithReleases({"v1.10.0", "v1.11.0", "v1.11.1", "v1.11.2", "v1.11.3", "v1.11.4", "v1.11.5"}));
  for (int patch = 1; patch <= 5; ++patch) repository.files.erase(fmt::format("v1.11.{}/metadata.yaml", patch));
  auto any = [](const api::Version&) { return true; };
  auto old = [](const api::Version& version) { return version.minor == 10; };
  auto found = FirstReleased({}, repository, repository.versions, any);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_FALSE(found->has_value());
  EXPECT_EQ(repository.asked.size(), 5u);
  repository.released = {repository.versions[0], repository.versions[1]};
  found = FirstReleased({}, repository, repository.versions, any);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->version.ToString(), "v1.11.0");
  EXPECT_EQ((*found)->metadata, kSeries);
  EXPECT_EQ((*FirstReleased({}, repository, repository.versions, old))->version.ToString(), "v1.10.0");
}

TEST(LatestVersion, AsksForFiveReleasesAtMost) {
  TextRepository repository = WithReleases({"v1.1.0", "v1.2.0", "v1.3.0", "v1.4.0", "v1.5.0", "v1.6.0"});
  repository.files.clear();
  auto got = LatestVersion({}, repository, {});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.code(), Code::kNotFound);
  EXPECT_EQ(repository.asked.size(), 5u);
}

TEST(GetRelease, HasBothFilesAndSaysWhereTheyCameFrom) {
  TextRepository repository = WithReleases({"v1.12.0"});
  repository.files["v1.12.0/core-components.yaml"] = "kind: Namespace\n";
  auto release = GetRelease({}, repository, repository.versions[0]);
  ASSERT_TRUE(release.ok()) << release.error().message;
  EXPECT_EQ(release->metadata, kSeries);
  EXPECT_EQ(release->components, "kind: Namespace\n");
  EXPECT_EQ(release->source, "texts v1.12.0");
}

TEST(GetRelease, RefusesWhatIsNoRelease_F2) {
  struct Case {
    std::string_view name, file, text;
    Code code;
    std::string_view message;
  };
  const Case cases[] = {
      {"empty", "core-components.yaml", "", Code::kInvalidArgument,
       "core-components.yaml of texts v1.12.0 can't be used: it is empty"},
      {"comments only", "core-components.yaml", "---\n# nothing\n\n---\n", Code::kInvalidArgument, "it is empty"},
      {"a web page", "core-components.yaml", "\n<!DOCTYPE html><html></html>", Code::kInvalidArgument,
       "the server answered with HTML"},
      {"bytes", "core-components.yaml", "kind: \xff\xfe", Code::kInvalidArgument, "not valid UTF-8"},
      {"empty metadata", "metadata.yaml", " \n", Code::kInvalidArgument,
       "metadata.yaml of texts v1.12.0 can't be used: it is empty"},
      {"no components", "", "", Code::kNotFound, "v1.12.0/core-components.yaml"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    TextRepository repository = WithReleases({"v1.12.0"});
    if (!c.file.empty()) {
      repository.files["v1.12.0/core-components.yaml"] = "kind: Namespace\n";
      repository.files["v1.12.0/" + std::string(c.file)] = c.text;
    }
    auto release = GetRelease({}, repository, repository.versions[0]);
    ASSERT_FALSE(release.ok());
    EXPECT_EQ(release.code(), c.code);
    EXPECT_THAT(release.error().message, HasSubstr(c.message));
  }
}

// I16.
TEST(OpenUrl, OpensEachKind) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"https://github.com/o/r/releases/latest/c.yaml", "github.com/o/r"},
      {"https://gitlab.example.org/api/v4/projects/g%2Fs%2Fp/packages/generic/p/v1/c.yaml",
       "gitlab.example.org/g/s/p/p"},
      {"/releases/cluster-api/v1.0.0/c.yaml", "folder /releases/cluster-api"},
  };
  for (const auto& [url, description] : cases) {
    auto got = OpenUrl(url, "cluster-api", {});
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ((*got)->Describe(), description);
    EXPECT_EQ((*got)->ComponentsFile(), "c.yaml");
  }
  EXPECT_FALSE(
      OpenUrl("https://gitlab.example.org/api/v4/projects/1/packages/npm/p/v1/c.yaml", "cluster-api", {}).ok());
}

std::string Series(std::string_view version, std::string_view contract) {
  const api::Version v = *api::Version::Parse(version);
  return fmt::format("releaseSeries:\n- {{major: {}, minor: {}, contract: {}}}\n", v.major, v.minor, contract);
}

// U12: what a provider could go to, as each release says itself.
TEST(NewerVersions, AreTheNewestOfEachMinorVersion_U12) {
  TextRepository repository;
  for (const char* version : {"v1.9.9", "v1.10.0", "v1.10.1", "v1.10.2", "v1.11.0", "v1.11.1", "v1.12.0-rc.1", "v2.0.0",
                              "v2.1.0", "v3.0.0"}) {
    Add(repository, version);
    repository.files[std::string(version) + "/metadata.yaml"] =
        Series(version, version[1] == '2' ? "v1beta2" : "v1beta1");
  }
  repository.files.erase("v1.11.1/metadata.yaml");                         // being published
  repository.files["v2.1.0/metadata.yaml"] = Series("v2.0.0", "v1beta2");  // it doesn't name its own series
  repository.files["v3.0.0/metadata.yaml"] = "not: [yaml";
  auto newer = NewerVersions({}, repository, *api::Version::Parse("v1.10.0"));
  ASSERT_TRUE(newer.ok()) << newer.error().message;
  const std::vector<NewerVersion> wanted = {{*api::Version::Parse("v1.10.2"), "v1beta1"},
                                            {*api::Version::Parse("v1.11.0"), "v1beta1"},
                                            {*api::Version::Parse("v2.0.0"), "v1beta2"}};
  EXPECT_EQ(*newer, wanted);

  repository.asked.clear();
  newer = NewerVersions({}, repository, *api::Version::Parse("v3.0.0"));
  ASSERT_TRUE(newer.ok());
  EXPECT_TRUE(newer->empty());
  EXPECT_TRUE(repository.asked.empty()) << "where nothing is newer, no file is asked for";

  repository.wrong["v1.10.2"] = true;  // of one release it says nothing of the others
  newer = NewerVersions({}, repository, *api::Version::Parse("v1.10.0"));
  ASSERT_TRUE(newer.ok()) << newer.error().message;
  EXPECT_THAT(*newer, ::testing::ElementsAre(NewerVersion{*api::Version::Parse("v1.10.1"), "v1beta1"},
                                             NewerVersion{*api::Version::Parse("v1.10.2"), "", "another digest"},
                                             wanted[1], wanted[2]))
      << "nor of the one before it";
  repository.wrong["v1.10.1"] = repository.wrong["v1.11.0"] = repository.wrong["v2.0.0"] = true;
  EXPECT_EQ(NewerVersions({}, repository, *api::Version::Parse("v1.10.0")).code(), Code::kFailedPrecondition)
      << "where none can be read, that isn't 'nothing is newer'";
  repository.failing["v1.11.0"] = true;
  EXPECT_EQ(NewerVersions({}, repository, *api::Version::Parse("v1.10.0")).code(), Code::kUnavailable);
  repository.listed = false;
  EXPECT_EQ(NewerVersions({}, repository, *api::Version::Parse("v1.10.0")).code(), Code::kUnavailable);
}

// U12: not what was wrong with another one.
TEST(NewerVersions, WhatIsNotAskedForSaysWhy_U12) {
  TextRepository repository = WithReleases({"v1.0.0", "v1.0.1", "v1.1.0", "v1.2.0", "v1.3.0", "v1.4.0"});
  repository.files["v1.0.1/metadata.yaml"] = Series("v1.0.1", "v1beta1");
  repository.wrong["v1.4.0"] = true;
  repository.forbidden["v1.3.0"] = repository.forbidden["v1.2.0"] = true;
  const auto newer = NewerVersions({}, repository, repository.versions[0]);
  ASSERT_TRUE(newer.ok()) << newer.error().message;
  std::vector<std::string> told;
  for (const NewerVersion& one : *newer) told.push_back(one.version.ToString() + ": " + one.unread);
  EXPECT_THAT(told, testing::ElementsAre("v1.0.1: ", "v1.1.0: not asked for, since others were refused: HTTP 403",
                                         "v1.2.0: HTTP 403", "v1.3.0: HTTP 403", "v1.4.0: another digest"));
}

// U12, I17: the fork of a repository has its tags, and the few releases of its own are what is newer.
TEST(NewerVersions, TagsWithoutReleasesHideNone_U12_I3_I17) {
  Tags fork((TextRepository()));
  for (const char* version : {"v0.5.0", "v0.5.1", "v0.6.0"}) {
    Add(fork, version);
    fork.files[std::string(version) + "/metadata.yaml"] = Series(version, "v1beta1");
  }
  const api::Version installed = fork.versions[0];
  auto newer = NewerVersions({}, fork, installed);
  ASSERT_TRUE(newer.ok());
  EXPECT_EQ(newer->size(), 2u);
  EXPECT_EQ(fork.asked_for_releases, 0) << "where each minor version has a release, nothing hides any";

  fork.released = fork.versions;
  for (int minor = 0; minor <= 12; ++minor) {
    for (int patch = 0; patch < 5; ++patch) Add(fork, fmt::format("v1.{}.{}", minor, patch));
  }
  fork.asked.clear();
  newer = NewerVersions({}, fork, installed);
  ASSERT_TRUE(newer.ok()) << newer.error().message;
  const std::vector<NewerVersion> wanted = {{*api::Version::Parse("v0.5.1"), "v1beta1"},
                                            {*api::Version::Parse("v0.6.0"), "v1beta1"}};
  EXPECT_EQ(*newer, wanted);
  EXPECT_EQ(fork.asked_for_releases, 1);
  EXPECT_LE(fork.asked.size(), 7u) << "the tags of one minor version, and what is released";
}

// U12: of a source that doesn't say which of its versions are releases nothing is asked twice.
TEST(NewerVersions, NoFileIsAskedForTwice_U12) {
  TextRepository monorepo;
  for (int minor = 0; minor < 3; ++minor) {
    for (int patch = 0; patch < 5; ++patch) Add(monorepo, fmt::format("v1.{}.{}", minor, patch));
  }
  for (const char* version : {"v1.0.1", "v1.1.4"})
    monorepo.files[std::string(version) + "/metadata.yaml"] = Series(version, "v1beta1");
  auto newer = NewerVersions({}, monorepo, *api::Version::Parse("v1.0.0"));
  ASSERT_TRUE(newer.ok()) << newer.error().message;
  ASSERT_EQ(newer->size(), 2u);
  EXPECT_EQ(newer->back().version.ToString(), "v1.1.4");
  EXPECT_EQ(std::set(monorepo.asked.begin(), monorepo.asked.end()).size(), monorepo.asked.size());
}

// U12: a repository of a thousand minor versions is asked for a few files.
TEST(NewerVersions, AreBounded_U12) {
  TextRepository repository;
  for (int minor = 0; minor < 1000; ++minor) {
    for (int patch = 0; patch < 2; ++patch) {
      const std::string version = fmt::format("v1.{}.{}", minor, patch);
      Add(repository, version);
      repository.files[version + "/metadata.yaml"] = Series(version, "v1beta1");
    }
  }
  auto newer = NewerVersions({}, repository, *api::Version::Parse("v1.0.0"));
  ASSERT_TRUE(newer.ok());
  ASSERT_EQ(newer->size(), 11u);
  EXPECT_EQ(newer->front().version.ToString(), "v1.0.1") << "its own";
  EXPECT_EQ(newer->back().version.ToString(), "v1.999.1");
  EXPECT_EQ(repository.asked.size(), 11u);
}

}  // namespace
}  // namespace capi::fetch
