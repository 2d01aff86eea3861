#include "fetch/github/github_releases.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "base/testing/cost.h"

namespace capi::fetch {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kFiles = {"metadata.yaml", "core-components.yaml"};

// "TAG[ draft][ NAME:ID:SIZE:DIGEST]..."
std::string Text(const ListedRelease& release) {
  std::string out = release.tag + (release.draft ? " draft" : "");
  for (const auto& [name, asset] : release.assets) {
    out += fmt::format(" {}:{}:{}:{}", name, asset.id, asset.size, asset.digest);
  }
  return out;
}

// "TEXT;" of each release, or the error.
std::string ListText(std::string_view list) {
  std::string out;
  Status read = ReadReleases(list, kFiles, [&](const ListedRelease& release) { out += Text(release) + ";"; });
  return read.ok() ? out : read.error().message;
}

std::string Repeat(std::string_view piece, size_t bytes) {
  std::string out;
  while (out.size() + piece.size() <= bytes) out += piece;
  return out;
}

TEST(ReadReleases, KeepsWhatIsAskedFor) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"[]", ""},
      {R"([{"tag_name": "v1.0.0"}, {"draft": true, "tag_name": "v1.1.0", "body": "notes"}])", "v1.0.0;v1.1.0 draft;"},
      {R"([{"assets": [{"name": "other", "id": 1}, {"name": "metadata.yaml", "uploader": {"id": 9, "name": "x"},
           "id": 7, "size": 12, "digest": "sha256:0"}], "author": {"name": "a", "assets": [{"name": "metadata.yaml"}]},
           "tag_name": "v1.0.0"}, {"tag_name": "v2.0.0"}])",
       "v1.0.0 metadata.yaml:7:12:sha256:0;v2.0.0;"},
      {R"([{"tag_name": "v1.0.0", "assets": [{"name": "metadata.yaml", "digest": null}]}])",
       "v1.0.0 metadata.yaml:0:-1:;"},
      // Of another type than it should be: as if it weren't there.
      {R"([{"tag_name": 5, "draft": "x", "assets": {"name": "metadata.yaml"}}, 7, "x", [{"tag_name": "v3.0.0"}]])",
       ";"},
      {R"([{"tag_name": {"a": [1]}, "assets": [5, [{"name": "metadata.yaml"}]]}])", ";"},
  };
  for (const auto& [list, text] : cases) EXPECT_EQ(ListText(list), text) << list;
}

// What is kept of an answer says the same; of assets those alone that may be a release's files.
TEST(Shortened, SaysTheSame) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"[]", "[]"},
      {" \n[{\"tag_name\": \"v1.0.0\", \"body\": \"notes\", \"draft\": true, \"author\": {\"name\": \"a\", \"id\": "
       "1}}]",
       R"([{"assets":[],"draft":true,"tag_name":"v1.0.0"}])"},
      {R"({"tag_name": "v1.0.0", "assets": [{"name": "linux-amd64", "id": 1}, {"name": "metadata.yaml", "id": 7,
           "size": 12, "digest": "sha256:0", "uploader": {"id": 9}, "url": "x"}, {"name": "other.yml", "digest": null}]})",
       R"({"assets":[{"digest":"sha256:0","id":7,"name":"metadata.yaml","size":12},)"
       R"({"digest":"","id":0,"name":"other.yml","size":-1}],"draft":false,"tag_name":"v1.0.0"})"},
      {"{}", R"({"assets":[],"draft":false,"tag_name":""})"},
  };
  for (const auto& [answer, kept] : cases) {
    auto text = Shortened(answer);
    ASSERT_TRUE(text.ok()) << text.error().message;
    EXPECT_EQ(*text, kept);
    EXPECT_EQ(ListText(*text), ListText(answer));
  }
  for (std::string_view answer : {"", "<html></html>", "[1, 2", "5"}) EXPECT_FALSE(Shortened(answer).ok()) << answer;
}

TEST(Shortened, IsOfLessThanOneMiB_I17) {
  const size_t rest = Shortened("{}")->size();
  auto kept = [](size_t tag) { return Shortened(fmt::format(R"({{"tag_name":"{}"}})", std::string(tag, 'v'))); };
  auto most = kept((1u << 20) - 1 - rest);
  ASSERT_TRUE(most.ok()) << most.error().message;
  EXPECT_EQ(most->size(), (1u << 20) - 1);
  EXPECT_FALSE(kept((1u << 20) - rest).ok());
}

TEST(Shortened, KeepsFilesAndTheirSignatures_T14) {
  for (std::string_view name : {"metadata.yaml", "a.yml", "metadata.yaml.sig", "a.yml.bundle", "a.yaml.sigstore.json"})
    EXPECT_TRUE(IsKept(name)) << name;
  for (std::string_view name : {"", "yaml", "clusterctl.sig", "a.yaml.sig.sig", "a.yaml.txt", ".bundle"})
    EXPECT_FALSE(IsKept(name)) << name;
}

TEST(ReadReleases, RefusesWhatIsNoList_F2) {
  for (std::string_view text :
       {"{}", "5", "null", R"({"message": "Not Found"})", R"({"a": [{"tag_name": "v1.0.0"}]})"}) {
    EXPECT_EQ(ListText(text), "the answer is no list of releases") << text;
  }
  EXPECT_THAT(ListText(R"([{"tag_name": "v1.0.0"})"), HasSubstr("not JSON"));
  EXPECT_THAT(ListText(Repeat("[", 5'000)), HasSubstr("nested deeper"));
}

TEST(ReadRelease, IsOneOfAList) {
  auto release = ReadRelease(R"({"tag_name": "v1.0.0", "author": {"tag_name": "v2.0.0"},
      "assets": [{"name": "metadata.yaml", "id": 7}]})",
                             kFiles);
  ASSERT_TRUE(release.ok()) << release.error().message;
  EXPECT_EQ(Text(*release), "v1.0.0 metadata.yaml:7:-1:");
  for (std::string_view text : {"[]", "5", R"([{"tag_name": "v1.0.0"}])"}) {
    EXPECT_EQ(ReadRelease(text, kFiles).code(), Code::kInvalidArgument) << text;
  }
}

// A hundred releases as the API lists them: each asset has its uploader, each release its notes.
std::string LargePage() {
  Json uploader = {{"login", "bot"}, {"id", 41'898'282}, {"type", "Bot"}, {"site_admin", false}};
  for (const char* url : {"avatar_url", "followers_url", "gists_url", "repos_url", "events_url"}) {
    uploader[url] = "https://api.github.com/users/bot/" + std::string(url);
  }
  Json page = Json::array();
  for (int i = 0; i < 100; ++i) {
    Json assets = Json::array();
    for (int j = 0; j < 70; ++j) {
      std::string name = j == 0 ? kFiles[0] : fmt::format("clusterctl-{}", j);
      assets.push_back({{"name", name}, {"id", j}, {"size", 10}, {"digest", "sha256:" + std::string(64, '0')}});
      assets.back()["uploader"] = uploader;
      assets.back()["browser_download_url"] = "https://github.com/o/r/releases/download/" + name;
    }
    page.push_back({{"tag_name", fmt::format("v1.0.{}", i)}, {"body", std::string(20'000, 'n')}, {"assets", assets}});
  }
  return ToJsonText(page);
}

// What reading a list takes beside its text, in bytes; and to shorten it, which comes to `kept`.
double MemoryToRead(std::string_view list, std::string_view kept) {
  Cost cost = Measure([&] { return ReadReleases(list, kFiles, [](const ListedRelease&) {}).ok() ? "ok" : "not ok"; });
  EXPECT_EQ(cost.answer, "ok");
  Cost shortened = Measure([&] { return Shortened(list).ok() ? "ok" : "too large"; });
  EXPECT_EQ(shortened.answer, kept);
  if (kMeasuresCost) EXPECT_LT(shortened.seconds, 5);
  return std::max(cost.bytes, shortened.bytes);
}

std::string ManyAssets(size_t bytes) {
  std::string out;
  for (int i = 0; out.size() < bytes; ++i) out += fmt::format(R"({{"name":"{}.yml"}},)", i);
  return out;
}

TEST(ReadReleases, TakesLittleMemory_F2) {
  const std::string page = LargePage();
  EXPECT_GT(page.size(), 5'000'000u);
  const double memory = MemoryToRead(page, "ok");
  if (kMeasuresCost) EXPECT_LT(memory, 2 << 20);
}

// Whatever the list is made of, and where it is of nothing but brackets, which the parser keeps a copy of.
TEST(ReadReleases, TakesLittleMemoryForAHostileList_F2) {
  constexpr size_t kSize = 2 << 20;
  const struct {
    std::string_view name;
    std::string list;
    std::string_view kept;
  } cases[] = {
      {"releases without anything", "[" + Repeat("{},", kSize) + "{}]", "too large"},
      {"lists", "[" + Repeat("[],", kSize) + "[]]", "ok"},
      {"numbers", "[" + Repeat("1,", kSize) + "1]", "ok"},
      {"assets", R"([{"assets":[)" + Repeat(R"({"name":"metadata.yaml"},)", kSize) + "{}]}]", "ok"},
      {"assets of other names", R"([{"assets":[)" + ManyAssets(kSize) + "{}]}]", "too large"},
      {"numbers for assets", R"([{"assets":[)" + Repeat("1,", kSize) + "1]}]", "ok"},
      {"a tag that is a list", R"([{"tag_name":[)" + Repeat("{},", kSize) + "{}]}]", "ok"},
      {"members", "[{" + Repeat(R"("a":{},)", kSize) + R"("a":1}])", "ok"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const double memory = MemoryToRead(c.list, c.kept);
    if (kMeasuresCost) EXPECT_LT(memory, 4 * kSize);
  }
}

}  // namespace
}  // namespace capi::fetch
