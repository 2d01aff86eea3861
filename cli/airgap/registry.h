// Registries as these commands reach and write them.
#pragma once

#include "cli/frame/config.h"
#include "cli/frame/world.h"
#include "fetch/oci/push.h"

namespace capi::cli {

// With the credentials of the environment: OCI_USERNAME, OCI_PASSWORD, OCI_ACCESS_TOKEN, OCI_REFRESH_TOKEN. For a
// registry that whoever runs this has named on the command line, and no other.
fetch::OciOptions RegistryOptionsOf(const Config& config);

// A release's version as a tag: that can't have a "+".
std::string TagOf(const std::string& version);

// An artifact and where it goes. A value.
struct Publication {
  api::OciReference reference;  // with a tag
  fetch::PackedArtifact artifact;
  bool there = false;         // already, as it is
  std::string before;         // the digest that the tag names, until it is written
  std::string Named() const;  // "oci://registry/repository:tag@sha256:..."
};

// Says of each wait for a registry why, and how long.
fetch::BeforeWait SayWaits(Notes& notes);

// Looks which are there. kFailedPrecondition where a tag names something else, unless `force`. Nothing is written.
Status LookAtAll(const Context& ctx, const fetch::OciOptions& options, bool force,
                 std::vector<Publication>& publications, Notes& notes);
// Writes those that aren't. Of each the tag is looked at once more when its files are there.
Status WriteAll(const Context& ctx, const fetch::OciOptions& options, bool force,
                const std::vector<Publication>& publications, Notes& notes);

}  // namespace capi::cli
