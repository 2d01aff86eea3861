// Artifacts that are made here: a release's files as a registry or an image layout has them (behaviour.md L26). Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json.h"

namespace capi::fetch {

inline constexpr std::string_view kOciManifestType = "application/vnd.oci.image.manifest.v1+json";
inline constexpr std::string_view kOciIndexType = "application/vnd.oci.image.index.v1+json";
inline constexpr std::string_view kOciTitle = "org.opencontainers.image.title";
// What `artifactType` says an artifact is.
inline constexpr std::string_view kReleaseArtifact = "application/vnd.capi-operator.release.v1";

// A value.
struct PackedArtifact {
  std::string manifest;
  std::map<std::string, std::string> blobs;  // that it names, by digest
};

// "sha256:..." of these bytes.
std::string OciDigest(std::string_view bytes);
// How an index or a manifest names bytes.
Json OciDescriptor(std::string_view media_type, std::string_view bytes);

// Of files by their titles, in the order of these. The same files give the same bytes, whoever makes them and when.
PackedArtifact PackArtifact(std::string_view artifact_type, const std::map<std::string, std::string>& files);

}  // namespace capi::fetch
