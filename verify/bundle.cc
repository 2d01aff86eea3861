#include "verify/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/encoding.h"
#include "base/json.h"
#include "base/strings.h"

namespace capi::verify {
namespace {

constexpr std::string_view kBundleTypes[] = {
    "application/vnd.dev.sigstore.bundle.v0.3+json",
    "application/vnd.dev.sigstore.bundle+json;version=0.3",
    "application/vnd.dev.sigstore.bundle+json;version=0.2",
    "application/vnd.dev.sigstore.bundle+json;version=0.1",
};
constexpr char kSignatureMember[] = "messageSignature", kEnvelopeMember[] = "dsseEnvelope";
constexpr std::string_view kStatementPayload = "application/vnd.in-toto+json";
constexpr std::string_view kStatementTypes[] = {"https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v0.1"};

template <typename List>
bool IsOneOf(const List& list, std::string_view text) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

// What a Sigstore bundle holds. A value.
struct Content {
  const Json* json;  // nullptr where it has the other one
  bool certified = false;
};

// The digest says which file is meant; what counts is the signature of it. With the plain Ed25519, which signs no
// digest, cosign writes none.
Status CheckNamedDigest(Message& message, const Json& content) {
  constexpr std::pair<std::string_view, const char*> kAlgorithms[] = {
      {"SHA2_256", "SHA256"}, {"SHA2_384", "SHA384"}, {"SHA2_512", "SHA512"}};
  const Json* said = Find(content, {"messageDigest"});
  if (said == nullptr || (said->is_object() && said->empty())) return Ok();
  const std::string named = GetString(*said, {"algorithm"});
  auto algorithm =
      std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms), [&](const auto& a) { return a.first == named; });
  if (algorithm == std::end(kAlgorithms)) return NotVerified("the bundle names no digest that is known");
  const std::string digest = TRY(StrictBase64(GetString(*said, {"digest"})));
  if (digest != message.Digest(algorithm->second)) return NotVerified("the bundle is of a file with another digest");
  return Ok();
}

Status CheckMessageSignature(const PublicKeys& keys, Message& message, const Content& content) {
  TRY(CheckNamedDigest(message, *content.json));
  return CheckMade(keys, message, GetString(*content.json, {"signature"}), content.certified);
}

// The statement says which digest was signed.
Status CheckStatement(Message& message, const std::string& text) {
  const Json statement = TRY(ParseJson(text));
  if (!IsOneOf(kStatementTypes, GetString(statement, {"_type"}))) return NotVerified("it holds no in-toto statement");
  if (GetString(statement, {"predicateType"}) != kSignPredicate)
    return NotVerified("it is an attestation of another kind than cosign's signature");
  const std::string digest = Sha256Hex(message.bytes());
  const Json* subjects = Find(statement, {"subject"});
  const bool named = subjects != nullptr && subjects->is_array() &&
                     std::any_of(subjects->begin(), subjects->end(), [&](const Json& subject) {
                       return GetString(subject, {"digest", "sha256"}) == digest;
                     });
  return named ? Ok() : Status(NotVerified("its statement is of another digest"));
}

// What is signed is the type and the payload, with their lengths (DSSE's "PAE").
Status CheckEnvelope(const PublicKeys& keys, Message& message, const Content& content) {
  const Json& envelope = *content.json;
  const std::string type = GetString(envelope, {"payloadType"});
  if (type != kStatementPayload) return NotVerified("its envelope holds no in-toto statement");
  const std::string payload = TRY(StrictBase64(GetString(envelope, {"payload"})));
  const Json* signatures = Find(envelope, {"signatures"});
  if (signatures == nullptr || !signatures->is_array() || signatures->size() != 1)
    return NotVerified("its envelope doesn't have one signature");
  const std::string signed_text = fmt::format("DSSEv1 {} {} {} {}", type.size(), type, payload.size(), payload);
  Message envelope_message(signed_text);
  TRY(CheckMade(keys, envelope_message, GetString(signatures->front(), {"sig"}), content.certified));
  return CheckStatement(message, payload);
}

// Of a bundle with one of the two members, the wanted one.
Result<Content> ContentOf(const Json& bundle, const char* wanted, const char* other) {
  if (!IsOneOf(kBundleTypes, GetString(bundle, {"mediaType"})))
    return NotVerified("it is a bundle of a version that isn't known");
  const Json* material = Find(bundle, {"verificationMaterial"});
  if (material == nullptr || !material->is_object()) return NotVerified("the bundle says nothing of its key");
  const bool certified = material->contains("certificate") || material->contains("x509CertificateChain");
  if (!certified && !material->contains("publicKey")) return NotVerified("the bundle says nothing of its key");
  const Json* content = Find(bundle, {wanted});
  if ((content == nullptr) == (Find(bundle, {other}) == nullptr))
    return NotVerified("the bundle has no signature, or two");
  return Content{content, certified};
}

Status CheckSigstoreBundle(const PublicKeys& keys, Message& file, const Json& bundle) {
  const Content content = TRY(ContentOf(bundle, kSignatureMember, kEnvelopeMember));
  if (content.json != nullptr) return CheckMessageSignature(keys, file, content);
  return NotVerified("it is what `cosign sign` makes of an artifact; a file is signed with `cosign sign-blob`");
}

Status CheckEnvelopeBundle(const PublicKeys& keys, Message& manifest, std::string_view text) {
  if (text.size() > kMaxSignatureBytes)
    return NotVerified(fmt::format("it has more than {} bytes", kMaxSignatureBytes));
  const Json bundle = TRY(ParseJson(text));
  const Content envelope = TRY(ContentOf(bundle, kEnvelopeMember, kSignatureMember));
  if (envelope.json != nullptr) return CheckEnvelope(keys, manifest, envelope);
  return NotVerified("it is what `cosign sign-blob` makes of a file; an artifact is signed with `cosign sign`");
}

// Earlier versions of cosign put there the public key that a signature was made with, which counts for nothing.
bool HoldsCertificate(const std::string& base64) {
  auto text = Base64Decode(base64);
  return (text.ok() ? *text : base64).find("CERTIFICATE") != std::string::npos;
}

Status CheckBundle(const PublicKeys& keys, Message& message, std::string_view text) {
  const Json bundle = TRY(ParseJson(text));
  if (bundle.is_object() && bundle.contains("mediaType")) return CheckSigstoreBundle(keys, message, bundle);
  const std::string signature = GetString(bundle, {"base64Signature"});
  if (signature.empty()) return NotVerified("it is no bundle of cosign");
  return CheckMade(keys, message, signature, HoldsCertificate(GetString(bundle, {"cert"})));
}

}  // namespace

Result<std::string> StrictBase64(std::string_view text) {
  auto bytes = Base64Decode(text);
  if (bytes.ok() && Base64Encode(*bytes) == text) return bytes;
  return NotVerified("it isn't base64");
}

Status CheckMade(const PublicKeys& keys, Message& message, std::string_view base64, bool certified) {
  const std::string signature = TRY(StrictBase64(base64));
  if (signature.empty()) return NotVerified("the signature is empty");
  if (keys.Made(message, signature)) return Ok();
  if (certified) {
    return NotVerified(fmt::format(
        "none of the keys ({}) has made it, and its certificate (keyless) can't be checked offline: sign with cosign's "
        "--key, and put the public key into the Secret",
        keys.Names()));
  }
  constexpr size_t kBytesOfEd25519 = 64;
  const bool may_be_ph = signature.size() == kBytesOfEd25519 && keys.HasEd25519();
  return NotVerified(fmt::format("none of the keys ({}) has made it of these bytes{}", keys.Names(),
                                 may_be_ph ? "; with an Ed25519 key, cosign makes \"Ed25519ph\", which isn't taken, of "
                                             "an artifact, and of a file without --tlog-upload=false: sign files with "
                                             "that, and artifacts with a key of another kind"
                                           : ""));
}

Status CheckFileSignature(const PublicKeys& keys, Message& file, std::string_view signature) {
  if (signature.size() > kMaxSignatureBytes)
    return NotVerified(fmt::format("it has more than {} bytes", kMaxSignatureBytes));
  std::string text(Trim(signature));
  if (text.empty()) return NotVerified("it is empty");
  Status checked = Ok();
  if (text.starts_with('{')) {
    checked = CheckBundle(keys, file, text);
  } else {
    std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
    checked = CheckMade(keys, file, text, false);
  }
  if (checked.ok()) return Ok();
  return NotVerified(checked.error().message);
}

Status CheckArtifactBundle(const PublicKeys& keys, Message& manifest, std::string_view bundle) {
  Status checked = CheckEnvelopeBundle(keys, manifest, bundle);
  return checked.ok() ? Ok() : Status(NotVerified(checked.error().message));
}

}  // namespace capi::verify
