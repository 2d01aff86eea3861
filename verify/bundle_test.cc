#include "verify/bundle.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/json.h"
#include "verify/keys_testing.h"

namespace capi::verify {
namespace {

using ::testing::HasSubstr;

constexpr char kText[] = "kind: Namespace\n";
constexpr char kMediaType[] = "application/vnd.dev.sigstore.bundle.v0.3+json";

const KeyPair& Signer() {
  static const KeyPair pair("P-256");
  return pair;
}

PublicKeys KeysOf(const KeyPair& pair) { return PublicKeys::Read({{"a.pub", pair.PublicPem()}}).value(); }

using Checks = Status (*)(const PublicKeys&, Message&, std::string_view);

// The error, "" where it is verified.
std::string Check(std::string_view signature, std::string_view text = kText, Checks checks = CheckFileSignature) {
  const PublicKeys keys = KeysOf(Signer());
  Message message(text);
  Status checked = checks(keys, message, signature);
  if (checked.ok()) return "";
  EXPECT_EQ(checked.code(), Code::kFailedPrecondition);
  return checked.error().message;
}

std::string CheckArtifact(std::string_view bundle) { return Check(bundle, kText, CheckArtifactBundle); }

std::string Sign(std::string_view text = kText) { return Base64Encode(Signer().Sign(text)); }

Json BytesOfHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return Base64Encode(bytes);
}

Json MessageBundle(std::string_view text = kText) {
  return {{"mediaType", kMediaType},
          {"verificationMaterial", {{"publicKey", {{"hint", "x"}}}, {"tlogEntries", Json::array()}}},
          {"messageSignature",
           {{"messageDigest", {{"algorithm", "SHA2_256"}, {"digest", BytesOfHex(Sha256Hex(text))}}},
            {"signature", Sign(text)}}}};
}

Json Statement(std::string_view text = kText) {
  return {{"_type", "https://in-toto.io/Statement/v1"},
          {"subject", {{{"name", ""}, {"digest", {{"sha256", Sha256Hex(text)}}}}}},
          {"predicateType", "https://sigstore.dev/cosign/sign/v1"},
          {"predicate", Json::object()}};
}

Json EnvelopeBundle(const std::string& payload) {
  constexpr std::string_view kType = "application/vnd.in-toto+json";
  const std::string pae = fmt::format("DSSEv1 {} {} {} {}", kType.size(), kType, payload.size(), payload);
  Json bundle = MessageBundle();
  bundle.erase("messageSignature");
  bundle["dsseEnvelope"] = {
      {"payload", Base64Encode(payload)}, {"payloadType", kType}, {"signatures", {{{"sig", Sign(pae)}}}}};
  return bundle;
}

Json With(Json json, const std::string& pointer, Json value) {
  json[Json::json_pointer(pointer)] = std::move(value);
  return json;
}

Json Without(Json json, const std::string& parent, const std::string& key) {
  json[Json::json_pointer(parent)].erase(key);
  return json;
}

TEST(Signature, IsBase64BesideTheFile) {
  const std::string good = Sign();
  EXPECT_EQ(Check(good), "") << "T14";
  EXPECT_EQ(Check(good + "\n"), "");
  EXPECT_EQ(Check(good.substr(0, 64) + "\n" + good.substr(64)), "");
  EXPECT_THAT(Check(good, "kind: Namespace"), HasSubstr("none of the keys (a.pub) has made it of these bytes"));
  EXPECT_THAT(Check(Base64Encode(KeyPair("P-256").Sign(kText))), HasSubstr("none of the keys (a.pub)"));
  EXPECT_EQ(Check(""), "it is empty");
  EXPECT_EQ(Check(" \n"), "it is empty");
  EXPECT_EQ(Check("not base64!"), "it isn't base64");
  EXPECT_EQ(Check(good.substr(1)), "it isn't base64");
  EXPECT_EQ(Check("="), "it isn't base64");
  EXPECT_EQ(Check(std::string(40'000, 'A')), "it has more than 32768 bytes");
}

// T14: of an Ed25519 key the signature may be of the kind that isn't taken; a reader isn't to look for a forgery.
TEST(Signature, MayBeEd25519ph_T14) {
  const KeyPair pair("Ed25519");
  const std::string other = Base64Encode(KeyPair("Ed25519").Sign(kText));
  const struct {
    PublicKeys keys;
    std::string signature;
    bool told;
  } cases[] = {
      {KeysOf(pair), other, true}, {KeysOf(pair), Base64Encode("short"), false}, {KeysOf(Signer()), other, false}};
  for (const auto& c : cases) {
    Message message(kText);
    Status checked = CheckFileSignature(c.keys, message, c.signature);
    ASSERT_FALSE(checked.ok());
    EXPECT_THAT(checked.error().message, HasSubstr("none of the keys (a.pub)"));
    EXPECT_EQ(checked.error().message.find("\"Ed25519ph\", which isn't taken") != std::string::npos, c.told);
  }
}

// T14: where each bit of a file counts, at its ends and at the edges of what a digest takes at once.
TEST(Signature, IsOfEveryBitOfTheFile) {
  for (size_t size : {1u, 55u, 56u, 63u, 64u, 65u, 127u, 128u, 4096u}) {
    const std::string text(size, 'a'), good = Sign(text), bundle = ToJsonText(MessageBundle(text));
    ASSERT_EQ(Check(good, text) + Check(bundle, text), "");
    for (size_t at : {size_t{0}, size / 2, size - 1}) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string changed = text;
        changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
        EXPECT_NE(Check(good, changed), "") << size << " " << at << " " << bit;
        EXPECT_NE(Check(bundle, changed), "") << size << " " << at << " " << bit;
      }
    }
    EXPECT_NE(Check(good, text + "a"), "");
    EXPECT_NE(Check(good, text.substr(1)), "");
  }
}

TEST(Signature, OfABundleAsItWas) {
  EXPECT_EQ(Check(ToJsonText({{"base64Signature", Sign()}})), "") << "T14";
  EXPECT_EQ(
      Check(ToJsonText({{"base64Signature", Sign()}, {"cert", ""}, {"rekorBundle", {{"SignedEntryTimestamp", "x"}}}})),
      "");
  const std::string certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
  for (const std::string& cert : {Base64Encode(certificate), certificate})
    EXPECT_THAT(Check(ToJsonText({{"base64Signature", Sign("other")}, {"cert", cert}})), HasSubstr("(keyless)"));
  EXPECT_EQ(Check(ToJsonText({{"base64Signature", Sign()}, {"cert", certificate}})), "") << "of a key in a token";
  // Earlier versions of cosign put the public key there.
  const std::string key = Base64Encode(Signer().PublicPem());
  EXPECT_EQ(Check(ToJsonText({{"base64Signature", Sign()}, {"cert", key}})), "");
  EXPECT_THAT(Check(ToJsonText({{"base64Signature", Sign("other")}, {"cert", key}})), HasSubstr("none of the keys"));
  EXPECT_THAT(Check(ToJsonText({{"base64Signature", Sign("other")}})), HasSubstr("none of the keys"));
  EXPECT_EQ(Check(R"({"base64Signature": ""})"), "it is no bundle of cosign");
  EXPECT_EQ(Check(R"({"base64Signature": 1})"), "it is no bundle of cosign");
  EXPECT_NE(Check("{"), "");
}

TEST(Signature, OfASigstoreBundle) {
  const Json good = MessageBundle();
  EXPECT_EQ(Check(ToJsonText(good)), "") << "T14";
  EXPECT_EQ(Check(good.dump(2) + "\n"), "");
  for (const char* type : {kMediaType, "application/vnd.dev.sigstore.bundle+json;version=0.3",
                           "application/vnd.dev.sigstore.bundle+json;version=0.2",
                           "application/vnd.dev.sigstore.bundle+json;version=0.1"}) {
    EXPECT_EQ(Check(ToJsonText(With(good, "/mediaType", type))), "") << "T14, as earlier versions wrote it: " << type;
  }
  const struct {
    Json bundle;
    const char* error;
  } cases[] = {
      {With(good, "/mediaType", "application/vnd.dev.sigstore.bundle.v0.4+json"), "of a version that isn't known"},
      {With(good, "/mediaType", 1), "of a version that isn't known"},
      {Without(good, "", "verificationMaterial"), "the bundle says nothing of its key"},
      {Without(good, "/verificationMaterial", "publicKey"), "the bundle says nothing of its key"},
      {Without(good, "", "messageSignature"), "has no signature, or two"},
      {With(good, "/dsseEnvelope", Json::object()), "has no signature, or two"},
      {With(good, "/messageSignature/messageDigest/algorithm", "MD5"), "names no digest that is known"},
      {With(good, "/messageSignature/messageDigest/algorithm", "SHA2_512"), "is of a file with another digest"},
      {With(good, "/messageSignature/messageDigest/digest", Base64Encode("x")), "is of a file with another digest"},
      {With(good, "/messageSignature/messageDigest/digest", ""), "is of a file with another digest"},
      {With(good, "/messageSignature/signature", ""), "the signature is empty"},
      {With(good, "/messageSignature/signature", Sign("other")), "none of the keys (a.pub)"},
      {MessageBundle("other"), "is of a file with another digest"},
  };
  for (const auto& c : cases) EXPECT_THAT(Check(ToJsonText(c.bundle)), HasSubstr(c.error));
}

// T14: nobody can tell offline whose certificate it was, expired or not. One of a key in the Secret counts all the
// same.
TEST(Signature, OfACertificateIsRefusedInWords) {
  const Json good = MessageBundle();
  const Json other = With(good, "/messageSignature/signature", Sign("other"));
  for (const Json& material : {Json{{"certificate", {{"rawBytes", "MIIB"}}}},
                               Json{{"x509CertificateChain", {{"certificates", Json::array()}}}},
                               Json{{"certificate", {{"rawBytes", "MIIB"}}}, {"publicKey", {{"hint", "x"}}}}}) {
    EXPECT_THAT(Check(ToJsonText(With(other, "/verificationMaterial", material))),
                HasSubstr("none of the keys (a.pub) has made it, and its certificate (keyless) can't be checked"));
    EXPECT_EQ(Check(ToJsonText(With(good, "/verificationMaterial", material))), "");
  }
}

TEST(Signature, OfAnEnvelopeWithTheStatementOfCosignSign) {
  EXPECT_EQ(CheckArtifact(ToJsonText(EnvelopeBundle(ToJsonText(Statement())))), "") << "T14";
  const Json good = Statement();
  const Json before = With(good, "/_type", "https://in-toto.io/Statement/v0.1");
  EXPECT_EQ(CheckArtifact(ToJsonText(EnvelopeBundle(ToJsonText(before)))), "") << "T14";
  const struct {
    Json statement;
    const char* error;
  } cases[] = {
      {Statement("other"), "its statement is of another digest"},
      {With(good, "/subject", Json::array()), "its statement is of another digest"},
      {With(good, "/subject", {{"a", good["subject"][0]}}), "its statement is of another digest"},
      {Without(good, "", "subject"), "its statement is of another digest"},
      {With(good, "/predicateType", "https://slsa.dev/provenance/v1"), "an attestation of another kind"},
      {With(good, "/_type", "https://in-toto.io/Link/v1"), "it holds no in-toto statement"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(CheckArtifact(ToJsonText(EnvelopeBundle(ToJsonText(c.statement)))), HasSubstr(c.error));
  const Json bundle = EnvelopeBundle(ToJsonText(good));
  const Json& one = bundle["dsseEnvelope"]["signatures"][0];
  const struct {
    Json changed;
    const char* error;
  } envelopes[] = {
      {With(bundle, "/dsseEnvelope/payloadType", "text/plain"), "its envelope holds no in-toto statement"},
      {With(bundle, "/dsseEnvelope/payload", Base64Encode(ToJsonText(good) + " ")), "none of the keys"},
      {With(bundle, "/dsseEnvelope/signatures", Json::array()), "doesn't have one signature"},
      {With(bundle, "/dsseEnvelope/signatures", {one, one}), "doesn't have one signature"},
      {With(bundle, "/dsseEnvelope/signatures", {{"a", one}}), "doesn't have one signature"},
      {Without(bundle, "/dsseEnvelope", "signatures"), "doesn't have one signature"},
      {With(bundle, "/dsseEnvelope/signatures/0/sig", Sign()), "none of the keys"},
  };
  for (const auto& c : envelopes) EXPECT_THAT(CheckArtifact(ToJsonText(c.changed)), HasSubstr(c.error));
  EXPECT_EQ(CheckArtifact(std::string(40'000, '{')), "it has more than 32768 bytes");
  for (const char* none : {"", "{", "[]", "{}"}) EXPECT_NE(CheckArtifact(none), "") << none;
}

// T14: `cosign sign-blob` signs files and `cosign sign` artifacts: what is signed as one of them isn't the other one.
TEST(Signature, OfAFileIsNoneOfAnArtifact_T14) {
  const std::string of_file = ToJsonText(MessageBundle()),
                    of_artifact = ToJsonText(EnvelopeBundle(ToJsonText(Statement())));
  ASSERT_EQ(Check(of_file) + CheckArtifact(of_artifact), "");
  EXPECT_THAT(Check(of_artifact), HasSubstr("a file is signed with `cosign sign-blob`"));
  EXPECT_THAT(CheckArtifact(of_file), HasSubstr("an artifact is signed with `cosign sign`"));
  EXPECT_NE(CheckArtifact(Sign()), "");
  EXPECT_EQ(CheckArtifact(ToJsonText({{"base64Signature", Sign()}})), "it is a bundle of a version that isn't known");
}

}  // namespace
}  // namespace capi::verify
