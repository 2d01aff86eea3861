// What the real cosign has signed (testdata/cosign), or has signed just now (tools/cosign_e2e_test.py).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/encoding.h"
#include "base/files.h"
#include "base/json.h"
#include "verify/artifact.h"
#include "verify/bundle.h"
#include "verify/keys.h"

namespace capi::verify {
namespace {

using ::testing::HasSubstr;

std::string Folder() {
  const char* made = std::getenv("CAPI_COSIGN_FIXTURES");
  return made != nullptr && *made != '\0' ? made : "testdata/cosign";
}

std::string Text(const std::string& name) {
  auto text = ReadFile(Folder() + "/" + name, 1u << 20);
  EXPECT_TRUE(text.ok()) << text.error().message;
  return text.ok() ? *text : "";
}

PublicKeys Key(const std::string& name) { return PublicKeys::Read({{name + ".pub", Text(name + ".pub")}}).value(); }

std::string Check(const PublicKeys& keys, std::string_view text, const std::string& signature) {
  Message message(text);
  Status checked = CheckFileSignature(keys, message, signature);
  return checked.ok() ? "" : checked.error().message;
}

constexpr const char* kKinds[] = {"p256", "p384", "p521", "rsa2048", "rsa4096", "ed25519"};
constexpr const char* kSuffixes[] = {".sig", ".bundle", ".sigstore.json"};

// T14: each kind of key, each kind of signature; and none of another file or key.
TEST(RealCosign, SignsFiles) {
  const std::string file = Text("file.yaml");
  for (const char* kind : kKinds) {
    const PublicKeys keys = Key(kind);
    const PublicKeys others = Key(std::string(kind) == "p256" ? "p384" : "p256");
    for (const char* suffix : kSuffixes) {
      const std::string signature = Text(fmt::format("{}{}", kind, suffix));
      EXPECT_EQ(Check(keys, file, signature), "") << kind << suffix;
      EXPECT_NE(Check(keys, file + " ", signature), "") << kind << suffix;
      EXPECT_NE(Check(keys, "", signature), "") << kind << suffix;
      EXPECT_THAT(Check(others, file, signature), HasSubstr("none of the keys")) << kind << suffix;
    }
  }
}

// T14: every bit of a file that cosign has signed counts.
TEST(RealCosign, SignsEveryBit) {
  const std::string file = Text("file.yaml");
  const PublicKeys keys = Key("p256");
  for (const char* suffix : kSuffixes) {
    const std::string signature = Text(fmt::format("p256{}", suffix));
    for (size_t bit = 0; bit < file.size() * 8; ++bit) {
      std::string changed = file;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_NE(Check(keys, changed, signature), "") << suffix << " " << bit;
    }
  }
}

ArtifactSignature Tagged(const std::string& name) {
  const Json layer = ParseJson(Text(name + ".tagged.json")).value()["layers"][0];
  return {"", Text(name + ".payload.json"), GetString(layer, {"annotations", "dev.cosignproject.cosign/signature"}),
          !GetString(layer, {"annotations", "dev.sigstore.cosign/certificate"}).empty()};
}

// T14: a certificate says whose key it is by words of others, until it ends; the key itself is what counts here.
TEST(RealCosign, CertificatesCountForNothing) {
  const std::string file = Text("file.yaml");
  for (const char* suffix : {".bundle", ".sigstore.json"}) {
    const std::string signature = Text(fmt::format("certificate{}", suffix));
    EXPECT_EQ(Check(Key("certificate"), file, signature), "") << suffix;
    EXPECT_THAT(Check(Key("p256"), file, signature), HasSubstr("(keyless) can't be checked offline")) << suffix;
  }
  const std::string name = "artifact-certificate", manifest = Text(name + ".manifest.json");
  for (const ArtifactSignature& signature :
       {Tagged(name), ArtifactSignature{.bundle = Text(name + ".sigstore.json")}}) {
    Status good = CheckArtifact(Key(name), {manifest, {signature}});
    EXPECT_TRUE(good.ok()) << good.error().message;
    Status refused = CheckArtifact(Key("p256"), {manifest, {signature}});
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr("(keyless) can't be checked offline"));
  }
}

// T14: an artifact, as it was signed, and as a referrer.
TEST(RealCosign, SignsArtifacts) {
  const std::string manifest = Text("artifact.manifest.json");
  const PublicKeys keys = Key("artifact");
  for (const ArtifactSignature& signature :
       {Tagged("artifact"), ArtifactSignature{.bundle = Text("artifact.sigstore.json")}}) {
    Status good = CheckArtifact(keys, {manifest, {signature}});
    EXPECT_TRUE(good.ok()) << good.error().message;
    EXPECT_FALSE(CheckArtifact(keys, {manifest + "\n", {signature}}).ok());
    EXPECT_FALSE(CheckArtifact(Key("p256"), {manifest, {signature}}).ok());
    for (size_t at = 0; at < manifest.size(); ++at) {
      std::string changed = manifest;
      changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
      EXPECT_FALSE(CheckArtifact(keys, {changed, {signature}}).ok()) << at;
    }
  }
}

// T14: of an artifact it makes Ed25519ph, also offline, which isn't taken.
TEST(RealCosign, SignsArtifactsWithEd25519ph) {
  const std::string name = "artifact-ed25519", manifest = Text(name + ".manifest.json");
  for (const ArtifactSignature& signature :
       {Tagged(name), ArtifactSignature{.bundle = Text(name + ".sigstore.json")}}) {
    Status checked = CheckArtifact(Key(name), {manifest, {signature}});
    ASSERT_FALSE(checked.ok());
    EXPECT_THAT(checked.error().message, HasSubstr("\"Ed25519ph\", which isn't taken"));
  }
}

// T14: an attestation is no signature, though the same key made it; by this annotation it is passed over.
TEST(RealCosign, Attests) {
  const PublicKeys keys = Key("artifact");
  const std::string manifest = Text("artifact.manifest.json");
  const ArtifactSignature attestation{.bundle = Text("artifact.attestation.json")};
  Status checked = CheckArtifact(keys, {manifest, {attestation}});
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().message, HasSubstr("an attestation of another kind than cosign's signature"));
  EXPECT_TRUE(CheckArtifact(keys, {manifest, {attestation, Tagged("artifact")}}).ok());
  const auto kind = [](const std::string& name) {
    return GetString(ParseJson(Text(name)).value(), {"annotations", "dev.sigstore.bundle.predicateType"});
  };
  EXPECT_EQ(kind("artifact.attestation.referrer.json"), "https://spdx.dev/Document");
  EXPECT_EQ(kind("artifact.sigstore.referrer.json"), kSignPredicate);
}

}  // namespace
}  // namespace capi::verify
