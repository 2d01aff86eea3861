// The real releases that tests read, as they lie in RELEASES_DIR.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"

namespace capi::e2e {

// One release of RELEASES_DIR: "infrastructure-aws/v2.0.2".
struct ReleaseFolder {
  api::ProviderType type = api::ProviderType::kCore;
  std::string name, version, path;
  std::string Label() const { return api::ManifestLabel(type, name); }
  std::string Id() const { return Label() + "/" + version; }
  std::string Text(std::string_view file) const;  // ends the test when there is none
  std::string Components() const;
};

// Folder of real releases, or "" when RELEASES_DIR isn't set.
std::string ReleasesDir();
std::vector<ReleaseFolder> AllReleases();
ReleaseFolder GetRelease(std::string_view label, std::string_view version);

}  // namespace capi::e2e
