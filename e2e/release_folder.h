// The provider releases that tests read: a set of them in a folder, laid out as a clusterctl local repository.
//
// CAPI_RELEASES names the set of this run: the tree's own small ones (testdata/releases) where it isn't set, "built"
// those that tools/assets makes of the pinned modules (CAPI_ASSETS_RELEASES), "vendors" those of RELEASES_DIR. The same
// scenarios run on each.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"

namespace capi::e2e {

// One release of the set: "infrastructure-aws/v2.0.2". A value.
struct ReleaseFolder {
  api::ProviderType type = api::ProviderType::kCore;
  std::string name, version, path;
  std::string Label() const { return api::ManifestLabel(type, name); }
  std::string Id() const { return Label() + "/" + version; }
  std::string Text(std::string_view file) const;  // ends the test when there is none
  std::string Components() const;
};

// The set's folder, absolute; "" when the variable that has to name it isn't set.
std::string ReleasesDir();
std::vector<ReleaseFolder> AllReleases();
// A release that isn't there is found out by its first use: see CAPI_NEED_RELEASES.
ReleaseFolder GetRelease(std::string_view label, std::string_view version);

// Why these ("cluster-api/v1.12.0") can't be had, all of them in one sentence; "" when all are there.
std::string MissingReleases(std::initializer_list<std::string_view> ids);

}  // namespace capi::e2e

// Skips a test where the set lacks a release that it names.
#define CAPI_NEED_RELEASES(...)                                                                      \
  if (std::string capi_missing = ::capi::e2e::MissingReleases({__VA_ARGS__}); !capi_missing.empty()) \
  GTEST_SKIP() << capi_missing
