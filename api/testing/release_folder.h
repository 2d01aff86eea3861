// The releases of the set that a test run reads (base/testing/releases.h), by provider.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "base/testing/releases.h"

namespace capi::api {

// One release of the set: "infrastructure-aws/v2.0.2". A value.
struct ReleaseFolder {
  ProviderType type = ProviderType::kCore;
  std::string name, version, path;
  std::string Label() const { return ManifestLabel(type, name); }
  std::string Id() const { return Label() + "/" + version; }
  std::string Text(std::string_view file) const;  // ends the test when there is none
  // Names of its components files, the plain one first: a release may have variants of it.
  std::vector<std::string> ComponentsFiles() const;
  std::string Components() const;  // of the plain one
};

std::vector<ReleaseFolder> AllReleases();
// A release that isn't there is found out by its first use: see CAPI_NEED_RELEASES.
ReleaseFolder GetRelease(std::string_view label, std::string_view version);

}  // namespace capi::api
