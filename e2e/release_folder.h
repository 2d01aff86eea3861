// api/testing/release_folder.h and base/testing/releases.h by the names that this folder's tests use.
#pragma once

#include "api/testing/release_folder.h"
#include "base/testing/releases.h"

namespace capi::e2e {

using api::AllReleases;
using api::GetRelease;
using api::ReleaseFolder;
using ::capi::MissingReleases;
using ::capi::ReleasesDir;

}  // namespace capi::e2e
