#include "cli/airgap/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/strings.h"
#include "cli/airgap/bundle_format.h"
#include "fetch/archives/tar.h"

namespace capi::cli {
namespace {

using About = std::map<std::string, std::string>;  // annotations

// What is in one archive while it is made. Thread-compatible.
class Layout {
 public:
  void Add(std::string_view type, const fetch::PackedArtifact& artifact, const About& about) {
    for (const auto& [digest, text] : artifact.blobs) blobs_[BlobName(digest)] = text;
    AddEntry(fetch::OciDescriptor(fetch::kOciManifestType, artifact.manifest), artifact.manifest, type, about);
  }

  void AddImage(const std::string& name, const fetch::OciImage& image) {
    for (const fetch::OciManifest& one : image.manifests) blobs_[BlobName(fetch::OciDigest(one.text))] = one.text;
    for (const auto& [digest, size] : image.blobs) {
      if (seen_.insert(digest).second) streamed_.emplace_back(digest, size);
    }
    const fetch::OciManifest& root = image.root();
    AddEntry(fetch::OciDescriptor(root.media_type, root.text), root.text, "", {{std::string(kRefName), name}});
  }

  BundleLayout Take() {
    BundleLayout out;
    out.files.emplace_back(kLayoutFile, ToJsonText({{"imageLayoutVersion", kLayoutVersion}}));
    out.files.emplace_back(
        kIndexFile, ToJsonText({{"schemaVersion", 2}, {"mediaType", fetch::kOciIndexType}, {"manifests", index_}}));
    std::set<std::string> here;
    for (auto& [name, text] : blobs_) {
      here.insert(name);
      out.files.emplace_back(name, std::move(text));
    }
    for (const auto& [digest, size] : streamed_) {
      if (!here.contains(BlobName(digest))) out.blobs.emplace_back(digest, size);
    }
    return out;
  }

 private:
  void AddEntry(Json entry, const std::string& manifest, std::string_view type, const About& about) {
    blobs_[BlobName(fetch::OciDigest(manifest))] = manifest;
    if (!type.empty()) entry["artifactType"] = type;
    entry["annotations"] = about;
    index_.push_back(std::move(entry));
  }

  std::map<std::string, std::string> blobs_;
  std::vector<std::pair<std::string, std::uint64_t>> streamed_;
  std::set<std::string> seen_;  // digests of these
  Json index_ = Json::array();
};

// A release, and what it was signed with.
void AddRelease(const BundledRelease& one, Layout& layout) {
  const std::string version = one.release.version.ToString(), name = RefName(one.label(), version);
  About about = {{std::string(api::kLabelReleaseType), std::string(api::KindOf(one.type).type_name)},
                 {std::string(api::kLabelReleaseName), one.name},
                 {std::string(api::kLabelReleaseVersion), version},
                 {std::string(api::kLabelReleaseSource), one.release.source},
                 {std::string(kRefName), name}};
  layout.Add(fetch::kReleaseArtifact, ArtifactOf(one), about);
  if (one.release.signatures.empty()) return;
  about.erase(std::string(api::kLabelReleaseSource));
  about[std::string(kRefName)] = name + "_signatures";
  layout.Add(kSignaturesArtifact, fetch::PackArtifact(kSignaturesArtifact, one.release.signatures), about);
}

}  // namespace

std::string RefName(std::string_view label, const std::string& version) {
  return fmt::format("{}_{}", label, ReplaceAll(version, "+", "_"));
}

std::string BlobName(std::string_view digest) { return std::string(kBlobs) + std::string(digest.substr(7)); }

fetch::PackedArtifact ArtifactOf(const BundledRelease& one) {
  return fetch::PackArtifact(fetch::kReleaseArtifact,
                             {{std::string(kMetadataFile), one.release.metadata},
                              {std::string(api::KindOf(one.type).components_file), one.release.components}});
}

fetch::PackedArtifact ArtifactOf(const BundledCertManager& one) {
  return fetch::PackArtifact(kCertManagerArtifact, {{std::string(kCertManagerFile), one.manifests}});
}

BundleLayout LayoutOf(Bundle bundle) {
  std::sort(bundle.releases.begin(), bundle.releases.end(), [](const BundledRelease& a, const BundledRelease& b) {
    return std::tuple(a.type, a.name, a.release.version.ToString()) <
           std::tuple(b.type, b.name, b.release.version.ToString());
  });
  Layout layout;
  for (const BundledRelease& one : bundle.releases) AddRelease(one, layout);
  if (bundle.cert_manager) {
    const std::string& version = bundle.cert_manager->version;
    layout.Add(
        kCertManagerArtifact, ArtifactOf(*bundle.cert_manager),
        {{std::string(api::kLabelReleaseVersion), version}, {std::string(kRefName), RefName("cert-manager", version)}});
  }
  const std::set<std::string> images(bundle.images.begin(), bundle.images.end());
  std::string list;
  for (const std::string& image : images) list += image + "\n";
  layout.Add(kImagesArtifact, fetch::PackArtifact(kImagesArtifact, {{std::string(kImagesFile), list}}),
             {{std::string(kRefName), "images"}});
  for (const auto& [name, image] : bundle.carried) layout.AddImage(name, image);
  return layout.Take();
}

std::string WriteBundle(Bundle bundle) {
  const BundleLayout layout = LayoutOf(std::move(bundle));
  return fetch::WriteTar({layout.files.begin(), layout.files.end()});
}

}  // namespace capi::cli
