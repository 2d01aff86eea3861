// Signatures of an artifact of a registry, as cosign puts them beside it (behaviour.md T14).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "verify/bundle.h"
#include "verify/keys.h"

namespace capi::verify {

inline constexpr size_t kMostSignatures = 16;            // of one artifact
inline constexpr size_t kMaxManifestBytes = 64u << 10;   // of a signed artifact
inline constexpr size_t kMaxArtifactBytes = 192u << 10;  // of a SignedArtifact as a text

// A value.
struct ArtifactSignature {
  std::string bundle;              // a Sigstore bundle; else
  std::string payload, signature;  // "simple signing": the text that was signed, and base64
  bool keyless = false;            // beside these, a certificate
};

// The manifest of an artifact, byte by byte, and what was signed of it. A value.
struct SignedArtifact {
  std::string manifest;
  std::vector<ArtifactSignature> signatures;

  // As it is kept with a release (docs/formats.md). kFailedPrecondition for what is none.
  std::string ToText() const;
  static Result<SignedArtifact> Parse(std::string_view text);
};

// Whether one of the signatures is of the manifest, by one of the keys. kFailedPrecondition says of each why not.
Status CheckArtifact(const PublicKeys& keys, const SignedArtifact& artifact);

}  // namespace capi::verify
