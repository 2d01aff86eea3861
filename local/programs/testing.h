// For tests of programs and images.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/json.h"
#include "fetch/archives/layer_testing.h"
#include "fetch/oci/artifact.h"
#include "fetch/oci/image.h"
#include "fetch/oci/push.h"
#include "local/programs/executable.h"

namespace capi::local {

inline constexpr unsigned kAmd64 = 62, kArm64 = 183;  // as ELF has them
inline unsigned ThisMachine() { return ThisPlatform() == "linux/amd64" ? kAmd64 : kArm64; }

// The beginning of a program for that machine, which wants this loader where one is named.
inline std::string Elf(unsigned machine, const std::string& loader = "") {
  std::string out(64 + 56, '\0');
  out.replace(0, 7,
              std::string("\x7f"
                          "ELF\2\1\1"));
  out[16] = 2;
  out[18] = static_cast<char>(machine);
  out[32] = 64;  // where the program headers are
  out[54] = 56;
  out[56] = 1;
  out[64] = loader.empty() ? 1 : 3;
  out[64 + 8] = static_cast<char>(out.size());
  out[64 + 32] = static_cast<char>(loader.size() + 1);
  return out + loader + '\0';
}

// An image that was made here. A value.
struct MadeImage {
  fetch::OciImage image;
  std::map<std::string, std::string> blobs;

  fetch::BlobPiece Pieces() const {
    return [this](const std::string& digest, std::uint64_t at, size_t count) -> Result<std::string> {
      return blobs.at(digest).substr(static_cast<size_t>(at), count);
    };
  }
  // An index of these, too, is one.
  static MadeImage Index(const std::vector<std::pair<std::string, MadeImage>>& by_architecture) {
    MadeImage out;
    Json index{{"schemaVersion", 2}, {"mediaType", fetch::kOciIndexType}, {"manifests", Json::array()}};
    for (const auto& [architecture, one] : by_architecture) {
      Json entry = fetch::OciDescriptor(fetch::kOciManifestType, one.image.root().text);
      entry["platform"] = {{"os", "linux"}, {"architecture", architecture}};
      index["manifests"].push_back(entry);
      out.image.manifests.push_back(one.image.root());
      out.image.blobs.insert(one.image.blobs.begin(), one.image.blobs.end());
      out.blobs.insert(one.blobs.begin(), one.blobs.end());
    }
    out.image.manifests.push_back({std::string(fetch::kOciIndexType), ToJsonText(index)});
    return out;
  }
};

inline std::string Architecture() { return std::string(ThisPlatform().substr(ThisPlatform().find('/') + 1)); }

// Of layers as tar archives, the lowest first, which are packed. `config`: that of its configuration, "Entrypoint" and
// the like.
inline MadeImage MakeImage(const std::vector<std::string>& layers, const Json& config,
                           const std::string& architecture = Architecture(),
                           std::string_view layer_type = "application/vnd.oci.image.layer.v1.tar+gzip") {
  MadeImage out;
  Json manifest{{"schemaVersion", 2}, {"mediaType", fetch::kOciManifestType}, {"layers", Json::array()}};
  auto add = [&](std::string_view type, const std::string& text) {
    out.image.blobs[fetch::OciDigest(text)] = text.size();
    out.blobs[fetch::OciDigest(text)] = text;
    return fetch::OciDescriptor(type, text);
  };
  manifest["config"] = add("application/vnd.oci.image.config.v1+json",
                           ToJsonText({{"os", "linux"}, {"architecture", architecture}, {"config", config}}));
  for (const std::string& layer : layers) manifest["layers"].push_back(add(layer_type, Gzip(layer)));
  out.image.manifests.push_back({std::string(fetch::kOciManifestType), ToJsonText(manifest)});
  return out;
}

// An environment of these variables alone.
inline std::function<std::optional<std::string>(const std::string&)> Only(
    std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

}  // namespace capi::local
