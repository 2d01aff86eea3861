// Local files that go before those of a release.
#pragma once

#include <memory>
#include <string>

#include "cli/frame/world.h"
#include "fetch/repository.h"

namespace capi::cli {

// `repository` with "{folder}/{label}/{version}/{file}" in place of its own files, where that is there. Versions are
// the repository's own; signatures are of the same place as the file that they are of (T14). `notes` must outlive it.
std::unique_ptr<fetch::Repository> WithOverrides(std::unique_ptr<fetch::Repository> repository, std::string folder,
                                                 std::string label, Notes& notes);

// The path of a file in the folder of overrides.
std::string OverridePath(std::string_view folder, std::string_view label, std::string_view version,
                         std::string_view file);

// Whether files of the folder go before those that a release is installed from: `components_file`, or metadata.yaml.
// Templates for clusters, which may lie beside them, are no part of that. "" for no folder.
bool IsOverridden(std::string_view folder, std::string_view label, std::string_view version,
                  std::string_view components_file);

}  // namespace capi::cli
