// What lies beside a file or an artifact, or under a key of a Secret: whatever it is, it is no signature by a key that
// nobody has, and what is read can be written.
#include "base/fuzz.h"
#include "verify/artifact.h"
#include "verify/bundle.h"
#include "verify/keys.h"

namespace {

// Of which the private half was thrown away.
constexpr char kKey[] =
    "-----BEGIN PUBLIC KEY-----\n"
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAENt4Ei9fg0+H9JwfGWuZDQ7a1v7fH\n"
    "+EkylnWuB1XkbnQw2cDAOoFi8Ha4b3CmMPJpLFqdsxbPpzUfVi0MG3FIoA==\n"
    "-----END PUBLIC KEY-----\n";

}  // namespace

CAPI_FUZZ(
    signature, "verify",
    {"MEQCICFDqgNzS4mZFKYrMyYha9RBaBi7Zp/t1be5Bidf/6tvAiBjiGbI41OvdVDSgJs/fpdfCy5a3DHiSsBpLgZdviCaBQ==",
     "{\"base64Signature\":\"MEQ=\",\"cert\":\"\"}",
     ("{\"mediaType\":\"application/vnd.dev.sigstore.bundle.v0.3+json\",\"verificationMaterial\":{\"publicKey\":{}},"
      "\"messageSignature\":{\"messageDigest\":{},\"signature\":\"MEQ=\"}}"),
     ("{\"mediaType\":\"application/vnd.dev.sigstore.bundle.v0.3+json\",\"verificationMaterial\":{\"publicKey\":{}},"
      "\"dsseEnvelope\":{\"payload\":\"e30=\",\"payloadType\":\"application/vnd.in-toto+json\",\"signatures\":[{"
      "\"sig\":\"MEQ=\"}]}}"),
     "{\"manifest\":\"{}\",\"signatures\":[{\"payload\":\"{}\",\"signature\":\"MEQ=\"}]}",
     "-----BEGIN PUBLIC KEY-----\nMFkwEwYH\n-----END PUBLIC KEY-----\n"}) {
  using namespace capi;
  static const verify::PublicKeys keys = verify::PublicKeys::Read({{"a.pub", kKey}}).value();
  verify::Message message("kind: Secret\n");  // the first seed is of another text, by this key
  for (auto check : {verify::CheckFileSignature, verify::CheckArtifactBundle}) {
    Status checked = check(keys, message, input);
    FUZZ_REQUIRE(!checked.ok() && checked.code() == Code::kFailedPrecondition);
  }
  if (auto artifact = verify::SignedArtifact::Parse(input); artifact.ok()) {
    FUZZ_REQUIRE(!verify::CheckArtifact(keys, *artifact).ok());
    auto again = verify::SignedArtifact::Parse(artifact->ToText());
    FUZZ_REQUIRE(!again.ok() || again->manifest == artifact->manifest);
  }
  auto key = verify::PublicKeys::Read({{"a.pub", std::string(input)}});
  if (!key.ok()) FUZZ_REQUIRE(key.code() == Code::kFailedPrecondition);
}
