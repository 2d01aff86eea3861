// Signatures as cosign writes them beside a file, and bundles beside an artifact (behaviour.md T14).
#pragma once

#include <string_view>

#include "base/result.h"
#include "verify/keys.h"

namespace capi::verify {

// Of one text; those of cosign have a tenth of that.
inline constexpr size_t kMaxSignatureBytes = 32u << 10;
// Of cosign's signatures of an artifact. Statements of other kinds are attestations: they say something of it, and not
// that it is the right one.
inline constexpr std::string_view kSignPredicate = "https://sigstore.dev/cosign/sign/v1";

// Whether `signature` is one of these bytes as a file, by one of the keys. It is one of
//   - `cosign sign-blob --output-signature`: base64, nothing else;
//   - `cosign sign-blob --bundle` as it was: JSON with "base64Signature";
//   - a Sigstore bundle (application/vnd.dev.sigstore.bundle.v0.3+json) with a "messageSignature".
// What a transparency log or a time-stamping authority adds isn't looked at: nobody is asked. kFailedPrecondition says
// why not; where there is a certificate in the place of a key ("keyless"), that it can't be checked offline.
Status CheckFileSignature(const PublicKeys& keys, Message& file, std::string_view signature);

// The same of an artifact with this manifest: a Sigstore bundle with a DSSE envelope around the statement of `cosign
// sign`, which names the SHA-256 of the bytes. What is signed as a file is no artifact, nor the other way round.
Status CheckArtifactBundle(const PublicKeys& keys, Message& manifest, std::string_view bundle);

// Base64 without white space, each byte of which counts.
Result<std::string> StrictBase64(std::string_view text);

// Whether one of the keys has made this signature, base64, of the message. `certified`: a certificate lies beside it,
// which says nothing here; it is told where none has.
Status CheckMade(const PublicKeys& keys, Message& message, std::string_view base64, bool certified);

}  // namespace capi::verify
