// What the archive of a bundle has where (docs/formats.md), for who writes and who reads it. Pure.
#pragma once

#include <string>
#include <string_view>

namespace capi::cli {

inline constexpr std::string_view kLayoutFile = "oci-layout", kIndexFile = "index.json", kBlobs = "blobs/sha256/";
inline constexpr std::string_view kLayoutVersion = "1.0.0";
inline constexpr std::string_view kImagesArtifact = "application/vnd.capi-operator.images.v1";
inline constexpr std::string_view kCertManagerArtifact = "application/vnd.capi-operator.cert-manager.v1";
inline constexpr std::string_view kSignaturesArtifact = "application/vnd.capi-operator.signatures.v1";
inline constexpr std::string_view kRefName = "org.opencontainers.image.ref.name";  // by which other tools name it
inline constexpr std::string_view kImagesFile = "images.txt", kMetadataFile = "metadata.yaml";

// The name under which a registry's tool finds it: a tag can't have a "+".
std::string RefName(std::string_view label, const std::string& version);
// Of "sha256:...".
std::string BlobName(std::string_view digest);

}  // namespace capi::cli
