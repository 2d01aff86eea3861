#include "verify/artifact.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "verify/keys_testing.h"

namespace capi::verify {
namespace {

using ::testing::HasSubstr;

constexpr char kManifest[] = R"({"schemaVersion":2,"layers":[]})";

const KeyPair& Signer() {
  static const KeyPair pair("P-256");
  return pair;
}

std::string Payload(const std::string& digest, const char* type = "cosign container image signature") {
  return fmt::format(R"({{"critical":{{"identity":{{"docker-reference":"r.example/a"}},"image":)"
                     R"({{"docker-manifest-digest":"{}"}},"type":"{}"}},"optional":null}})",
                     digest, type);
}

ArtifactSignature Signed(const std::string& payload) {
  return {"", payload, Base64Encode(Signer().Sign(payload)), false};
}

ArtifactSignature Good() { return Signed(Payload("sha256:" + Sha256Hex(kManifest))); }

// The error, "" where it is verified. By way of the text that is kept.
std::string Check(std::vector<ArtifactSignature> signatures, const std::string& manifest = kManifest) {
  const PublicKeys keys = PublicKeys::Read({{"a.pub", Signer().PublicPem()}}).value();
  auto read = SignedArtifact::Parse(SignedArtifact{manifest, std::move(signatures)}.ToText());
  EXPECT_TRUE(read.ok()) << read.error().message;
  Status checked = CheckArtifact(keys, *read);
  if (checked.ok()) return "";
  EXPECT_EQ(checked.code(), Code::kFailedPrecondition);
  return checked.error().message;
}

TEST(SignedArtifact, IsVerifiedByWhatNamesItsManifest) {
  EXPECT_EQ(Check({Good()}), "") << "T14";
  EXPECT_EQ(Check({{"{}", "", "", false}, Good()}), "") << "one that counts is enough";
  EXPECT_THAT(Check({}), HasSubstr("has no signature of cosign"));
  EXPECT_THAT(Check(std::vector(16, Signed("{}"))), HasSubstr("; 16 signatures of an artifact are read at most"));
  EXPECT_THAT(Check({Good()}, std::string(kManifest) + " "), HasSubstr("what was signed is another manifest"));
  EXPECT_THAT(Check({Signed(Payload(Sha256Hex(kManifest)))}), HasSubstr("another manifest")) << "no sha256:";
  EXPECT_THAT(Check({Signed(Payload("sha256:" + Sha256Hex(kManifest), "atomic container signature"))}),
              HasSubstr("of another type than cosign's signatures"));
  EXPECT_THAT(Check({Signed("{}")}), HasSubstr("of another type"));
  EXPECT_NE(Check({Signed("")}), "");
}

// T14: the payload counts as it is, byte by byte.
TEST(SignedArtifact, RefusesAPayloadWithAnotherBit) {
  const ArtifactSignature good = Good();
  for (size_t at = 0; at < good.payload.size(); ++at) {
    ArtifactSignature changed = good;
    changed.payload[at] = static_cast<char>(changed.payload[at] ^ 1);
    EXPECT_THAT(Check({changed}), HasSubstr("none of the keys")) << at;
  }
  ArtifactSignature other = good;
  other.signature = Base64Encode(KeyPair("P-256").Sign(good.payload));
  EXPECT_THAT(Check({other}), HasSubstr("none of the keys (a.pub)"));
  other.signature = "";
  EXPECT_EQ(Check({other}), "the signature is empty");
}

// T14: a certificate counts for nothing, and against nothing: cosign adds that of a key in a token (PKCS #11, PIV).
TEST(SignedArtifact, ACertificateCountsForNothing_T14) {
  ArtifactSignature good = Good();
  good.keyless = true;
  EXPECT_EQ(Check({good}), "");
  good.signature = Base64Encode(KeyPair("P-256").Sign(good.payload));
  EXPECT_THAT(Check({good}), HasSubstr("its certificate (keyless) can't be checked offline"));
  EXPECT_EQ(Check({good, Good()}), "") << "one that counts is enough";
}

TEST(SignedArtifact, ReadsNothingElse) {
  std::vector<ArtifactSignature> many(17, Good());
  for (const std::string& text :
       {std::string(""), std::string("[]"), std::string("{"), std::string(R"({"manifest":"x"})"),
        std::string(R"({"manifest":"","signatures":[]})"), std::string(R"({"manifest":"x","signatures":{}})"),
        SignedArtifact{kManifest, many}.ToText(), SignedArtifact{std::string(200'000, 'a'), {}}.ToText()}) {
    auto read = SignedArtifact::Parse(text);
    ASSERT_FALSE(read.ok()) << text.substr(0, 60);
    EXPECT_EQ(read.code(), Code::kFailedPrecondition);
  }
}

}  // namespace
}  // namespace capi::verify
