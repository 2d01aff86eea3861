// Signatures that cosign has put beside an artifact (behaviour.md T14).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fetch/oci/registry.h"
#include "verify/artifact.h"

namespace capi::fetch {

// A value.
struct FoundSignatures {
  verify::SignedArtifact artifact;
  std::optional<Error> unread;  // an outage that kept others from being read
};

// Those of a manifest: under tag "sha256-<hex>.sig", and Sigstore bundles among its referrers, by the registry's API or
// under the tag that stands in for it. Not checked but for their digests, sixteen at most: the newest, of
// which eight of a tag leave room for referrers. Attestations and what can't be read are passed over. kNotFound where
// there is none.
Result<FoundSignatures> ReadSignatures(const Context& ctx, OciRegistry& registry, const std::string& manifest);

}  // namespace capi::fetch
