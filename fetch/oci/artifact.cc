#include "fetch/oci/artifact.h"

#include "base/encoding.h"

namespace capi::fetch {
namespace {

constexpr std::string_view kFileType = "application/octet-stream";
// Where an artifact has no configuration: what the specification of images says to name.
constexpr std::string_view kEmptyType = "application/vnd.oci.empty.v1+json", kEmpty = "{}";

}  // namespace

std::string OciDigest(std::string_view bytes) { return "sha256:" + Sha256Hex(bytes); }

Json OciDescriptor(std::string_view media_type, std::string_view bytes) {
  return {{"mediaType", media_type}, {"digest", OciDigest(bytes)}, {"size", bytes.size()}};
}

PackedArtifact PackArtifact(std::string_view artifact_type, const std::map<std::string, std::string>& files) {
  PackedArtifact out;
  out.blobs[OciDigest(kEmpty)] = kEmpty;
  Json layers = Json::array();
  for (const auto& [title, text] : files) {
    Json layer = OciDescriptor(kFileType, text);
    layer["annotations"] = {{kOciTitle, title}};
    layers.push_back(std::move(layer));
    out.blobs[OciDigest(text)] = text;
  }
  out.manifest = ToJsonText({{"schemaVersion", 2},
                             {"mediaType", kOciManifestType},
                             {"artifactType", artifact_type},
                             {"config", OciDescriptor(kEmptyType, kEmpty)},
                             {"layers", layers}});
  return out;
}

}  // namespace capi::fetch
