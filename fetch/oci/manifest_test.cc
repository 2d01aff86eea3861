#include "fetch/oci/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/vectors.h"

namespace capi::fetch {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<OciFile> Titled(const Json& titles) {
  std::vector<OciFile> files;
  for (const Json& title : titles) files.push_back({title.get<std::string>(), "sha256:0", 1});
  return files;
}

void ExpectFile(const Json& c, const char* what, const Result<OciFile>& got) {
  const std::string want = GetString(c, {"want", what});
  if (want.empty()) {
    ASSERT_FALSE(got.ok()) << got->title;
    EXPECT_EQ(got.code(), Code::kNotFound);
    return;
  }
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got->title, want);
}

TEST(OciManifest, FilesAreChosenAsThePeerChoosesThem_T9) {
  RunVectors("oci-files.json", [](const Json&, const Json& c) {
    const api::ProviderKind* kind = api::KindByName(GetString(c, {"provider", "kind"}));
    ASSERT_NE(kind, nullptr);
    auto version = api::Version::Parse(GetString(c, {"provider", "version"}));
    ASSERT_TRUE(version.ok());
    const std::string name = GetString(c, {"provider", "name"});
    auto metadata = TitlesOf(kind->type, name, *version, "metadata.yaml");
    auto components = TitlesOf(kind->type, name, *version, TypedComponents(kind->type));
    std::vector<std::string> all = metadata;
    all.insert(all.end(), components.begin(), components.end());
    for (const Json& title : c["accepted"]) EXPECT_THAT(all, Contains(title.get<std::string>()));
    ExpectFile(c, "metadata", ChooseFile(Titled(c["files"]), metadata));
    ExpectFile(c, "components", ChooseFile(Titled(c["files"]), components));
  });
}

TEST(OciManifest, TwoFilesWithOneTitleAreRefused_T9) {
  auto got = ChooseFile({{"a", "sha256:1", 1}, {"b", "sha256:2", 1}, {"a", "sha256:3", 1}}, {"a", "b"});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.code(), Code::kInvalidArgument);
  EXPECT_THAT(got.error().message, HasSubstr("two files with the title a"));
}

TEST(OciManifest, TitlesSayWhatTheyAreOf_T9) {
  const struct {
    const char *title, *provider, *version, *file;
  } cases[] = {
      {"infrastructure-aws-v2.0.0-components.yaml", "infrastructure-aws", "v2.0.0", "components.yaml"},
      {"infrastructure-aws-2.0.0-rc.1+b-metadata.yaml", "infrastructure-aws", "v2.0.0-rc.1+b", "metadata.yaml"},
      {"infrastructure-components.yaml", "", "", ""},
      {"v2.0.0-metadata.yaml", "", "", ""},
      {"metadata.yaml", "", "", ""},
  };
  for (const auto& c : cases) {
    const auto full = ReadFullTitle(c.title);
    ASSERT_EQ(full.has_value(), *c.file != '\0') << c.title;
    EXPECT_EQ(IsFullTitle(c.title), full.has_value());
    if (!full) continue;
    EXPECT_EQ(full->provider, c.provider);
    EXPECT_EQ(full->version.ToString(), c.version);
    EXPECT_EQ(full->file, c.file);
  }
}

TEST(OciManifest, ATitleSteersNoTerminal_F1) {
  auto got = ChooseFile({{"a\x1b[2J", "sha256:1", 1}, {std::string(100, 'b'), "sha256:2", 1}}, {"c", "d"});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().message,
            "the artifact has no file with the title c or d; it has " + std::string(80, 'b') + "...");
}

TEST(OciManifest, IsReadWhateverItsTypes_T9) {
  const std::string file =
      R"({"mediaType":"x/y","digest":"sha256:1","size":7,"annotations":{"org.opencontainers.image.title":"a.yaml"}})";
  for (const std::string& text :
       {R"({"layers":[)" + file + R"(,{"digest":"sha256:2"},5]})", R"({"blobs":[{"annotations":{}},)" + file + "]}"}) {
    auto files = ReadOciManifest(text);
    ASSERT_TRUE(files.ok()) << files.error().message;
    ASSERT_EQ(files->size(), 1u);
    EXPECT_EQ(files->front().title, "a.yaml");
    EXPECT_EQ(files->front().digest, "sha256:1");
    EXPECT_EQ(files->front().size, 7);
  }
  const std::pair<const char*, const char*> wrong[] = {
      {"{", ""},
      {"[]", "no manifest"},
      {R"({"layers":{}})", "no manifest"},
      {R"({"manifests":[]})", "index of several artifacts"},
  };
  for (const auto& [text, why] : wrong) {
    auto files = ReadOciManifest(text);
    ASSERT_FALSE(files.ok()) << text;
    EXPECT_EQ(files.code(), std::string_view(why).starts_with("index") ? Code::kUnsupported : Code::kInvalidArgument);
    EXPECT_THAT(files.error().message, HasSubstr(why)) << text;
  }
}

TEST(OciManifest, TitlesNameVersions_I3) {
  std::vector<std::string> found;
  for (const api::Version& version : VersionsInTitles(
           Titled({"infrastructure-custom-v0.0.1-components.yaml", "infrastructure-custom-1.2.3-rc.1-components.yaml",
                   "infrastructure-custom-v0.0.2-metadata.yaml", "infrastructure-other-v0.0.3-components.yaml",
                   "infrastructure-custom--components.yaml", "infrastructure-components.yaml"}),
           api::ProviderType::kInfrastructure, "custom")) {
    found.push_back(version.ToString());
  }
  EXPECT_THAT(found, ElementsAre("v0.0.1", "v1.2.3-rc.1"));
}

}  // namespace
}  // namespace capi::fetch
