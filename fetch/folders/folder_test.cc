#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "api/testing/release_folder.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/testing/vectors.h"
#include "fetch/repository.h"
#include "fetch/url.h"
#include "fetch/versions_testing.h"

namespace capi::fetch {
namespace {

using testing::HasSubstr;

// A folder that goes with the test. Thread-compatible.
class Folder {
 public:
  Folder() {
    std::string pattern = testing::TempDir() + "/releases-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

  // A folder where `name` ends with a slash.
  void Add(const std::string& name, std::string_view text) const {
    std::filesystem::path path = path_ + "/" + name;
    std::filesystem::create_directories(name.ends_with('/') ? path : path.parent_path());
    if (name.ends_with('/')) return;
    ASSERT_TRUE(WriteFile(path, text).ok());
  }

 private:
  std::string path_;
};

constexpr std::string_view kMetadata = "releaseSeries:\n- {major: 1, minor: 0, contract: v1beta2}\n";

std::vector<std::string> WantedVersions(const Json& c) {
  std::vector<std::string> out;
  for (const Json& version : c["want"]["versions"]) {
    auto text = version.get<std::string>();
    out.push_back(text.starts_with('v') ? text : "v" + text);
  }
  return out;
}

TEST(FolderRepository, ListsTheVersionsThatTheVectorsSay) {
  const Json cases = LoadCases("repository-url.json");
  for (const Json& c : cases) {
    if (GetString(c, {"kind"}) != "local" || !c.contains("want") || !c["want"].contains("versions")) continue;
    SCOPED_TRACE(GetString(c, {"id"}));
    Folder folder;
    for (const Json& name : c["tree"]) folder.Add(name.get<std::string>(), kMetadata);
    const Json& want = c["want"];
    auto repository = OpenFolder(folder.path(), GetString(want, {"label"}), GetString(want, {"components"}));
    ASSERT_TRUE(repository.ok());
    auto versions = (*repository)->Versions({});
    ASSERT_TRUE(versions.ok()) << versions.error().message;
    EXPECT_EQ(Texts(*versions), WantedVersions(c));
  }
}

TEST(FolderRepository, ReadsFilesOfAVersionWithAndWithoutItsV_I12) {
  Folder folder;
  folder.Add("bootstrap-foo/v1.0.0/metadata.yaml", "with");
  folder.Add("bootstrap-foo/1.1.0/metadata.yaml", "without");
  auto repository = OpenFolder(folder.path() + "/", "bootstrap-foo", "c.yaml");
  ASSERT_TRUE(repository.ok());
  EXPECT_EQ(*(*repository)->File({}, *api::Version::Parse("1.0.0"), "metadata.yaml"), "with");
  EXPECT_EQ(*(*repository)->File({}, *api::Version::Parse("v1.1.0"), "metadata.yaml"), "without");
}

TEST(FolderRepository, SeesWhatIsAddedLater) {
  Folder folder;
  folder.Add("bootstrap-foo/v1.0.0/", "");
  auto repository = OpenFolder(folder.path(), "bootstrap-foo", "c.yaml");
  ASSERT_EQ(Texts(*(*repository)->Versions({})), std::vector<std::string>{"v1.0.0"});
  folder.Add("bootstrap-foo/v1.1.0/", "");
  EXPECT_EQ(Texts(*(*repository)->Versions({})), (std::vector<std::string>{"v1.0.0", "v1.1.0"}));
}

TEST(FolderRepository, SaysWhatIsMissing) {
  Folder folder;
  folder.Add("bootstrap-foo/v1.0.0/metadata.yaml", kMetadata);
  auto repository = OpenFolder(folder.path(), "bootstrap-foo", "c.yaml");
  auto release = GetRelease({}, **repository, *api::Version::Parse("v1.0.0"));
  ASSERT_FALSE(release.ok());
  EXPECT_EQ(release.code(), Code::kNotFound);
  EXPECT_THAT(release.error().message, HasSubstr("bootstrap-foo/v1.0.0/c.yaml\" from local release v1.0.0"));

  auto nothing = OpenFolder(folder.path(), "bootstrap-bar", "c.yaml");
  auto versions = (*nothing)->Versions({});
  ASSERT_FALSE(versions.ok());
  EXPECT_EQ(versions.code(), Code::kNotFound);
  EXPECT_THAT(versions.error().message, HasSubstr("failed to list release directories"));
}

TEST(FolderRepository, NeverLeavesItsFolder) {
  Folder folder;
  folder.Add("secret", "x");
  folder.Add("bootstrap-foo/v1.0.0/", "");
  auto repository = OpenFolder(folder.path(), "bootstrap-foo", "c.yaml");
  for (std::string_view name : {"../../secret", "..", "", "/etc/hostname"}) {
    auto file = (*repository)->File({}, *api::Version::Parse("v1.0.0"), name);
    ASSERT_FALSE(file.ok()) << name;
    EXPECT_EQ(file.code(), Code::kInvalidArgument);
  }
  EXPECT_FALSE(OpenFolder("releases", "bootstrap-foo", "c.yaml").ok());
}

TEST(OpenUrl, OpensAFolderByItsPath) {
  Folder folder;
  folder.Add("bootstrap-foo/v1.0.0/c.yaml", "kind: X\n");
  auto repository = OpenUrl("file://" + folder.path() + "/bootstrap-foo/latest/c.yaml", "bootstrap-foo", {});
  ASSERT_TRUE(repository.ok()) << repository.error().message;
  EXPECT_EQ((*repository)->ComponentsFile(), "c.yaml");
  EXPECT_EQ(Texts(*(*repository)->Versions({})), std::vector<std::string>{"v1.0.0"});
}

// Every release of the set can be read; the newest stable one of each provider is what LatestVersion names.
TEST(FolderRepository, ReadsEveryRelease) {
  CAPI_NEED_RELEASES();
  std::map<std::string, std::vector<api::ReleaseFolder>> providers;
  for (const api::ReleaseFolder& release : api::AllReleases()) providers[release.Label()].push_back(release);
  EXPECT_FALSE(providers.empty());
  for (const auto& [label, releases] : providers) {
    SCOPED_TRACE(label);
    auto repository = OpenFolder(ReleasesDir(), label, releases.front().ComponentsFiles().front());
    auto versions = (*repository)->Versions({});
    ASSERT_TRUE(versions.ok()) << versions.error().message;
    EXPECT_EQ(versions->size(), releases.size());
    for (const api::ReleaseFolder& folder : releases) {
      auto release = GetRelease({}, **repository, api::Version::Parse(folder.version).value());
      ASSERT_TRUE(release.ok()) << release.error().message;
      EXPECT_EQ(release->components, folder.Components());
    }
    auto newest =
        std::find_if(versions->rbegin(), versions->rend(), [](const auto& v) { return v.prerelease.empty(); });
    auto latest = LatestVersion({}, **repository, {});
    ASSERT_TRUE(latest.ok()) << latest.error().message;
    EXPECT_EQ(latest->ToString(), (newest == versions->rend() ? versions->back() : *newest).ToString());
  }
}

}  // namespace
}  // namespace capi::fetch
