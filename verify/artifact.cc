#include "verify/artifact.h"

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/json.h"
#include "base/strings.h"

namespace capi::verify {
namespace {

constexpr std::string_view kSimpleSigning = "cosign container image signature";

// The payload says which manifest was signed. Its docker-reference isn't looked at, as by cosign: a copy in another
// registry is the same artifact.
Status CheckSimpleSigning(const PublicKeys& keys, Message& manifest, const ArtifactSignature& signature) {
  Message payload(signature.payload);
  TRY(CheckMade(keys, payload, signature.signature, signature.keyless));
  const Json said = TRY(ParseJson(signature.payload));
  if (GetString(said, {"critical", "type"}) != kSimpleSigning)
    return NotVerified("what was signed is of another type than cosign's signatures");
  if (GetString(said, {"critical", "image", "docker-manifest-digest"}) != "sha256:" + Sha256Hex(manifest.bytes()))
    return NotVerified("what was signed is another manifest");
  return Ok();
}

Status CheckOne(const PublicKeys& keys, Message& manifest, const ArtifactSignature& signature) {
  if (!signature.bundle.empty()) return CheckArtifactBundle(keys, manifest, signature.bundle);
  return CheckSimpleSigning(keys, manifest, signature);
}

}  // namespace

std::string SignedArtifact::ToText() const {
  Json out = {{"manifest", manifest}, {"signatures", Json::array()}};
  for (const ArtifactSignature& signature : signatures) {
    Json one;
    if (!signature.bundle.empty()) {
      one["bundle"] = signature.bundle;
    } else {
      one = {{"payload", signature.payload}, {"signature", signature.signature}};
      if (signature.keyless) one["keyless"] = true;
    }
    out["signatures"].push_back(std::move(one));
  }
  return ToJsonText(out);
}

Result<SignedArtifact> SignedArtifact::Parse(std::string_view text) {
  if (text.size() > kMaxArtifactBytes) return NotVerified(fmt::format("it has more than {} bytes", kMaxArtifactBytes));
  auto root = ParseJson(text);
  if (!root.ok()) return NotVerified(root.error().message);
  SignedArtifact out{GetString(*root, {"manifest"}), {}};
  const Json* signatures = Find(*root, {"signatures"});
  if (out.manifest.empty() || signatures == nullptr || !signatures->is_array() ||
      signatures->size() > kMostSignatures) {
    return NotVerified("it holds no manifest with its signatures");
  }
  for (const Json& one : *signatures) {
    out.signatures.push_back({GetString(one, {"bundle"}), GetString(one, {"payload"}), GetString(one, {"signature"}),
                              GetBool(one, {"keyless"})});
  }
  return out;
}

Status CheckArtifact(const PublicKeys& keys, const SignedArtifact& artifact) {
  if (artifact.signatures.empty()) return NotVerified("the artifact has no signature of cosign");
  Message manifest(artifact.manifest);
  std::vector<std::string> why;
  for (const ArtifactSignature& signature : artifact.signatures) {
    Status checked = CheckOne(keys, manifest, signature);
    if (checked.ok()) return Ok();
    why.push_back(checked.error().message);
  }
  const bool may_be_more = artifact.signatures.size() >= kMostSignatures;
  return NotVerified(
      JoinNames(why, 3) +
      (may_be_more ? fmt::format("; {} signatures of an artifact are read at most", kMostSignatures) : ""));
}

}  // namespace capi::verify
