// Files of manifests/base, as they are in the program (cmake/embed.cmake writes the source).
#pragma once

#include <string_view>
#include <vector>

namespace capi::cli {

// A value.
struct EmbeddedFile {
  std::string_view path;  // below manifests/base
  std::string_view text;
};

// kustomization.yaml, then those that it lists and that no table of api/schema prints.
const std::vector<EmbeddedFile>& EmbeddedFiles();

}  // namespace capi::cli
