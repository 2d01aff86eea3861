// Images of containers as registries and image layouts have them: manifests, an index of them for each platform, and
// the blobs that they name (behaviour.md L28). Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace capi::fetch {

// What to ask a registry for an image's manifest with.
inline constexpr std::string_view kImageTypes =
    "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json, "
    "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json";
inline constexpr size_t kMaxImageManifest = 1u << 20;  // bytes

// A value.
struct OciManifest {
  std::string media_type, text;
};

// A value.
struct OciImage {
  std::vector<OciManifest> manifests;          // as a registry takes them: the index, where there is one, is the last
  std::map<std::string, std::uint64_t> blobs;  // configurations and layers: bytes by digest

  const OciManifest& root() const { return manifests.back(); }
  std::string digest() const;  // by which the image is named
};

// A value.
struct Platform {
  std::string os, architecture, variant;  // "": any variant
};
// "linux/amd64", "linux/arm/v7". kInvalidArgument for what is none.
Result<Platform> ParsePlatform(std::string_view text);

// A manifest that an index names.
using ManifestOf = std::function<Result<std::string>(const std::string& digest)>;

// The image whose index or manifest is `text`. With `platforms` the index names those alone, and so has another digest;
// without an index the image is taken as it is: CheckPlatforms tells whether it is for them. Layers that registries
// don't hand on (Windows had some) are left out. kFailedPrecondition for a manifest without the digest or the size that
// names it; kNotFound for a platform that the image hasn't; kUnsupported for what isn't read; kInvalidArgument for what
// is no image, or has too many or too large manifests.
Result<OciImage> ReadOciImage(std::string text, const std::vector<Platform>& platforms, const ManifestOf& others);

// Of an image without an index its configuration, one of its blobs, alone says for whom it is: its digest.
// kInvalidArgument for what is none; kNotFound where it is for another platform.
Result<std::string> ConfigurationOf(const OciImage& image);
Status CheckPlatforms(std::string_view configuration, const std::vector<Platform>& platforms);

}  // namespace capi::fetch
