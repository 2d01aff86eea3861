// Where the provider releases are that a test reads: a folder, laid out as a clusterctl local repository.
//
// CAPI_RELEASES names the set of this run: the tree's own small ones (testdata/releases) where it isn't set, "built"
// those that tools/assets makes of the pinned modules (CAPI_ASSETS_RELEASES), "vendors" those of RELEASES_DIR. The same
// tests run on each; api/testing/release_folder.h reads them.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace capi {

enum class ReleaseSet { kTree, kBuilt, kVendors };
ReleaseSet GetReleaseSet();

// The set's folder, absolute; "" when the variable that has to name it isn't set.
std::string ReleasesDir();

// Why these ("cluster-api/v1.12.0") can't be had, all of them in one sentence; "" when all are there. With none, why
// the set can't be had at all.
std::string MissingReleases(std::initializer_list<std::string_view> ids);

}  // namespace capi

// Skips a test where the set lacks a release that it names.
#define CAPI_NEED_RELEASES(...)                                                                 \
  if (std::string capi_missing = ::capi::MissingReleases({__VA_ARGS__}); !capi_missing.empty()) \
  GTEST_SKIP() << capi_missing
