// A bundle: releases of a set of providers in one file, as an image layout in a tar archive (docs/formats.md). Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "api/release.h"
#include "base/context.h"
#include "fetch/archives/tar.h"
#include "fetch/oci/artifact.h"
#include "fetch/oci/image.h"

namespace capi::cli {

inline constexpr size_t kMaxBundle = 256u << 20;  // bytes of its artifacts, without those of images

// A value.
struct BundledRelease {
  api::ProviderType type = api::ProviderType::kCore;
  std::string name;
  api::Release release;
  std::string label() const { return api::ManifestLabel(type, name); }
};

// cert-manager's manifests, which `init` installs. A value.
struct BundledCertManager {
  std::string version;  // "v1.21.1"
  std::string manifests;
};

// A value.
struct Bundle {
  std::vector<BundledRelease> releases;
  std::optional<BundledCertManager> cert_manager;
  std::vector<std::string> images;  // that all of it needs
  // Those of them that are in it, by their names there, and of one that was read, where their blobs lie in the archive.
  std::map<std::string, fetch::OciImage> carried;
  std::map<std::string, fetch::TarEntry> blobs;
};

// What the archive has: these files, then the blobs of images, each by its digest and with its size. A value.
struct BundleLayout {
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<std::pair<std::string, std::uint64_t>> blobs;
};

inline constexpr std::string_view kCertManagerFile = "cert-manager.yaml";

// A release as `publish` writes it, and cert-manager's manifests in the same way.
fetch::PackedArtifact ArtifactOf(const BundledRelease& release);
fetch::PackedArtifact ArtifactOf(const BundledCertManager& cert_manager);

// The same content gives the same bytes, in whatever order it comes.
BundleLayout LayoutOf(Bundle bundle);
// All of one without images.
std::string WriteBundle(Bundle bundle);

// Whether the layers of images, which are most of it, are read for their digests.
enum class Layers { kRead, kUnread };

// All of it is checked: each file has the digest by which it is named, each is named, nothing is there twice, and each
// release is one. kInvalidArgument with what is wrong.
Result<Bundle> ReadBundle(const Context& ctx, const fetch::ByteSource& archive, Layers layers = Layers::kRead);
Result<Bundle> ReadBundle(std::string_view archive);
// The same of what is to be written, before its layers are there.
Status CheckLayout(const BundleLayout& layout);

}  // namespace capi::cli
