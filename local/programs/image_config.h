// What an image says of how its program is started, and which of its manifests is for this machine. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fetch/oci/image.h"

namespace capi::local {

// A value.
struct ImageConfig {
  std::vector<std::string> entrypoint, cmd;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string working_folder;  // "/" where it names none

  std::string Variable(std::string_view name) const;  // "" for none
};
// kInvalidArgument for what is no configuration of an image.
Result<ImageConfig> ReadImageConfig(std::string_view text);

// A value.
struct ImageLayer {
  std::string digest;
  std::uint64_t size = 0;
};
// A value.
struct ChosenManifest {
  std::string digest;  // its own
  std::string configuration;
  std::uint64_t configuration_size = 0;
  std::vector<ImageLayer> layers;  // the lowest is the first
};
// The manifest of an image for `platform`: of an index the first one for it, one for any processor before one for a
// newer kind; else the image's only one, whatever that is for (CheckPlatforms of fetch/oci/image.h). kNotFound where
// none is; kUnsupported for layers that registries don't hand on, or that are packed with zstd.
Result<ChosenManifest> ChooseManifest(const fetch::OciImage& image, const fetch::Platform& platform);

}  // namespace capi::local
