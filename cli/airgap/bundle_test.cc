#include "cli/airgap/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "fetch/archives/tar.h"

namespace capi::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kMetadata =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    "- {major: 2, minor: 0, contract: v1beta2}\n";

BundledRelease ReleaseOf(const std::string& name, const std::string& version) {
  return {
      api::ProviderType::kInfrastructure,
      name,
      {*api::Version::Parse(version), kMetadata, "kind: Namespace\nmetadata: {name: " + name + "}\n", "here " + name}};
}

Bundle Sample() {
  return {{ReleaseOf("b", "v2.0.1"), ReleaseOf("a", "v2.0.0+one")},
          BundledCertManager{"v1.21.1", "kind: Namespace\n"},
          {"registry.k8s.io/b:v1", "registry.k8s.io/a:v1"}};
}

TEST(Bundle, IsReadAsItWasWritten_L27) {
  const Bundle read = ReadBundle(WriteBundle(Sample())).value();
  ASSERT_EQ(read.releases.size(), 2u);
  EXPECT_EQ(read.releases[0].label(), "infrastructure-a");
  EXPECT_EQ(read.releases[0].release.version.ToString(), "v2.0.0+one");
  EXPECT_EQ(read.releases[0].release.components, "kind: Namespace\nmetadata: {name: a}\n");
  EXPECT_EQ(read.releases[0].release.metadata, kMetadata);
  EXPECT_EQ(read.releases[0].release.source, "here a");
  ASSERT_TRUE(read.cert_manager);
  EXPECT_EQ(read.cert_manager->version, "v1.21.1");
  EXPECT_EQ(read.cert_manager->manifests, "kind: Namespace\n");
  EXPECT_THAT(read.images, ElementsAre("registry.k8s.io/a:v1", "registry.k8s.io/b:v1"));
}

TEST(Bundle, TheOrderIsNoneOfItsBytes_L27) {
  Bundle other = Sample();
  std::reverse(other.releases.begin(), other.releases.end());
  std::reverse(other.images.begin(), other.images.end());
  EXPECT_EQ(WriteBundle(other), WriteBundle(Sample()));
}

// The files of an archive, to be spoilt.
using Files = std::map<std::string, std::string>;

Files FilesOf(const std::string& archive) {
  Files out;
  for (const auto& [name, text] : fetch::ReadTar(archive).value()) out[name] = text;
  return out;
}

std::string Packed(const Files& files) { return fetch::WriteTar({files.begin(), files.end()}); }

std::string BlobOf(std::string_view text) { return "blobs/sha256/" + fetch::OciDigest(text).substr(7); }

// With another index.
void ChangeIndex(Files& files, const std::function<void(Json&)>& change) {
  Json index = *ParseJson(files["index.json"]);
  change(index);
  files["index.json"] = ToJsonText(index);
}

// With another manifest of the first release, which the index names.
void ChangeManifest(Files& files, const std::function<void(Json&)>& change) {
  ChangeIndex(files, [&](Json& index) {
    Json& entry = index["manifests"][0];
    const std::string old = "blobs/sha256/" + GetString(entry, {"digest"}).substr(7);
    Json manifest = *ParseJson(files[old]);
    files.erase(old);
    change(manifest);
    const std::string text = ToJsonText(manifest);
    files[BlobOf(text)] = text;
    entry["digest"] = fetch::OciDigest(text);
    entry["size"] = text.size();
  });
}

// By many artifacts, as many releases.
void NameOneFileOften(Files& files, int more = 50) {
  const std::string large = "#" + std::string((6u << 20) - 1, ' ');
  files[BlobOf(large)] = large;
  ChangeManifest(files, [&](Json& manifest) {
    Json layer = manifest["layers"][0];
    layer["annotations"]["org.opencontainers.image.title"] = "more";
    layer["digest"] = fetch::OciDigest(large);
    layer["size"] = large.size();
    manifest["layers"].push_back(layer);
  });
  ChangeIndex(files, [=](Json& index) {
    for (int i = 0; i < more; ++i) {
      Json entry = index["manifests"][0];
      entry["annotations"]["provider.cluster.x-k8s.io/version"] = "v2.0." + std::to_string(100 + i);
      index["manifests"].push_back(entry);
    }
  });
}

struct HostileCase {
  const char* words;
  std::function<void(Files&)> spoil;
};

const std::vector<HostileCase>& HostileCases() {
  static const std::string components = BlobOf("kind: Namespace\nmetadata: {name: a}\n");
  auto annotate = [](const char* key, const char* value) {
    return [=](Files& files) {
      ChangeIndex(files, [&](Json& index) { index["manifests"][0]["annotations"][key] = value; });
    };
  };
  static const std::vector<HostileCase> cases = {
      {"no file of an image layout", [](Files& f) { f["../../etc/passwd"] = "x"; }},
      {"no file of an image layout", [](Files& f) { f["/etc/passwd"] = "x"; }},
      {"no file of an image layout", [](Files& f) { f["blobs/sha256/../x"] = "x"; }},
      {"no file of an image layout", [](Files& f) { f["blobs/sha512/00"] = "x"; }},
      {"does not have the digest that is its name", [](Files& f) { f[components][0] ^= 1; }},
      {"does not have the digest that is its name", [](Files& f) { f[components] = ""; }},
      {"is too large", [](Files& f) { f[components] = std::string(api::kMaxReleaseBytes + 1, ' '); }},
      {"is named, and isn't there", [](Files& f) { f.erase(components); }},
      {"nothing names blobs/sha256/", [](Files& f) { f[BlobOf("more")] = "more"; }},
      {"it has no oci-layout", [](Files& f) { f.erase("oci-layout"); }},
      {"it has no index.json", [](Files& f) { f.erase("index.json"); }},
      {"no image layout of version 1.0.0", [](Files& f) { f["oci-layout"] = "{}"; }},
      {"lists no artifacts", [](Files& f) { f["index.json"] = "{}"; }},
      {"index.json: ", [](Files& f) { f["index.json"] = "{"; }},
      {"it has no release", [](Files& f) { f["index.json"] = R"({"manifests":[]})"; }},
      {"lists too many",
       [](Files& f) { ChangeIndex(f, [](Json& i) { i["manifests"] = Json(std::vector<int>(1001)); }); }},
      {"is there twice",
       [](Files& f) { ChangeIndex(f, [](Json& i) { i["manifests"].push_back(i["manifests"][0]); }); }},
      {"cert-manager twice",
       [](Files& f) { ChangeIndex(f, [](Json& i) { i["manifests"].push_back(i["manifests"][2]); }); }},
      {"two lists of images",
       [](Files& f) { ChangeIndex(f, [](Json& i) { i["manifests"].push_back(i["manifests"][3]); }); }},
      {"is nothing that a bundle has",
       [](Files& f) { ChangeIndex(f, [](Json& i) { i["manifests"][0]["artifactType"] = "x"; }); }},
      {"is no digest of SHA-256",
       [](Files& f) { ChangeIndex(f, [](Json& i) { i["manifests"][0]["digest"] = "sha256:../../x"; }); }},
      {"bytes, and has", [](Files& f) { ChangeIndex(f, [](Json& i) { i["manifests"][0]["size"] = 1; }); }},
      {"bytes, and has", [](Files& f) { ChangeManifest(f, [](Json& m) { m["layers"][0]["size"] = -1; }); }},
      {"an artifact has no metadata.yaml", [](Files& f) { ChangeManifest(f, [](Json& m) { m["layers"].erase(1); }); }},
      {"two files have the title",
       [](Files& f) { ChangeManifest(f, [](Json& m) { m["layers"].push_back(m["layers"][0]); }); }},
      // A small archive that would take much memory.
      {"more files than any release",
       [](Files& f) {
         ChangeManifest(f, [](Json& m) {
           for (int i = 0; i < 10; ++i) {
             m["layers"].push_back(m["layers"][0]);
             m["layers"].back()["annotations"]["org.opencontainers.image.title"] = std::to_string(i);
           }
         });
       }},
      {"more than 256 MiB together", [](Files& f) { NameOneFileOften(f); }},
      {"manifest of an artifact is too large",
       [](Files& f) { ChangeManifest(f, [](Json& m) { m["x"] = std::string(64u << 10, 'x'); }); }},
      {"index.json is too large",
       [](Files& f) { ChangeIndex(f, [](Json& i) { i["x"] = std::string(4u << 20, 'x'); }); }},
      {"is no type of providers", annotate("provider.cluster.x-k8s.io/type", "../x")},
      {"is no provider's name", annotate("provider.cluster.x-k8s.io/name", "..")},
      {"is no provider's name", annotate("provider.cluster.x-k8s.io/name", "a/../../b")},
      {"is no version", annotate("provider.cluster.x-k8s.io/version", "../v1.0.0")},
      {"is no version", annotate("provider.cluster.x-k8s.io/version", "2.0.0")},
      {"doesn't say which contract", annotate("provider.cluster.x-k8s.io/version", "v9.9.9")},
      {"its source is no line of text", annotate("provider.cluster.x-k8s.io/source", "\x1b[2J")},
  };
  return cases;
}

TEST(Bundle, WhatIsHostileOrHalfIsRefused_L27) {
  const std::string archive = WriteBundle(Sample());
  ASSERT_EQ(Packed(FilesOf(archive)).size(), archive.size());
  for (const HostileCase& c : HostileCases()) {
    Files files = FilesOf(archive);
    c.spoil(files);
    auto read = ReadBundle(Packed(files));
    ASSERT_FALSE(read.ok()) << c.words;
    EXPECT_EQ(read.code(), Code::kInvalidArgument);
    EXPECT_THAT(read.error().message, HasSubstr(c.words));
  }
}

// Each image names the same index, whose manifests are 4 MiB.
TEST(Bundle, ManifestsOfImagesCountAsOftenAsTheyAreNamed_L27_L28) {
  Files files = FilesOf(WriteBundle(Sample()));
  NameOneFileOften(files, 41);
  Json named{{"manifests", Json::array()}};
  for (const char* which : {"1", "2", "3", "4"}) {
    const std::string empty = "{}";
    std::string text = ToJsonText({{"annotations", {{"x", which}}},
                                   {"config", {{"digest", fetch::OciDigest(empty)}, {"size", empty.size()}}},
                                   {"layers", Json::array()}});
    text.resize(fetch::kMaxImageManifest, ' ');
    files[BlobOf(text)] = text;
    named["manifests"].push_back({{"digest", fetch::OciDigest(text)}, {"size", text.size()}});
  }
  const std::string root = ToJsonText(named);
  files[BlobOf(root)] = root;
  for (const char* image : {"registry.k8s.io/a:v1", "registry.k8s.io/b:v1"}) {
    ChangeIndex(files, [&](Json& index) {
      index["manifests"].push_back({{"digest", fetch::OciDigest(root)},
                                    {"size", root.size()},
                                    {"annotations", {{"org.opencontainers.image.ref.name", image}}}});
    });
  }
  EXPECT_THAT(ReadBundle(Packed(files)).error().message, HasSubstr("more than 256 MiB together"));
}

TEST(Bundle, NoChangedByteOfAFileIsOverlooked_L27) {
  const std::string archive = WriteBundle(Sample());
  for (const auto& [name, text] : fetch::ReadTar(archive).value()) {
    if (!name.starts_with("blobs/")) continue;
    std::string changed = archive;
    changed[static_cast<size_t>(text.data() - archive.data()) + text.size() / 2] ^= 1;
    EXPECT_FALSE(ReadBundle(changed).ok()) << name;
  }
}

}  // namespace
}  // namespace capi::cli
