#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/certificate.h"
#include "base/testing/value_or_abort.h"

namespace capi::http {
namespace {

using std::chrono::hours;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Algorithm = KeyKind::Algorithm;

const WallTime kNow{Seconds(1'800'000'000)};
const KeyKind kSmall = {.algorithm = Algorithm::kEcdsa, .bits = 256};

CertificateContent Content() {
  return {.common_name = "",
          .organizations = {},
          .dns_names = {"b.ns.svc", "a.ns.svc"},
          .addresses = {"127.0.0.1"},
          .validity = {kNow - hours(1), kNow + hours(100)},
          .authority = false,
          .key_usages = {"digitalSignature", "keyEncipherment"},
          .extended_usages = {}};
}

std::string Key(const KeyKind& kind = kSmall) { return ValueOrAbort(MakeKey(kind), "key"); }

Certificate Issued(const CertificateContent& content, const std::optional<Certificate>& by = std::nullopt,
                   const std::string& key = Key()) {
  return {ValueOrAbort(IssueCertificate(content, key, by), "certificate"), key};
}

Certificate Authority(const std::optional<Certificate>& by = std::nullopt) {
  CertificateContent content = Content();
  content.dns_names = {};
  content.addresses = {};
  content.common_name = "a CA";
  content.authority = true;
  return Issued(content, by);
}

TEST(Keys, AreOfTheKindThatIsAskedFor) {
  struct Case {
    KeyKind kind;
    std::string_view begins;
  };
  const Case cases[] = {
      {{Algorithm::kRsa, 2048, false}, "-----BEGIN RSA PRIVATE KEY-----\n"},
      {{Algorithm::kRsa, 2048, true}, "-----BEGIN PRIVATE KEY-----\n"},
      {{Algorithm::kEcdsa, 256, false}, "-----BEGIN EC PRIVATE KEY-----\n"},
      {{Algorithm::kEcdsa, 384, true}, "-----BEGIN PRIVATE KEY-----\n"},
      {{Algorithm::kEcdsa, 521, false}, "-----BEGIN EC PRIVATE KEY-----\n"},
  };
  for (const Case& c : cases) {
    std::string key = Key(c.kind);
    EXPECT_THAT(key, StartsWith(std::string(c.begins)));
    auto kind = ReadKeyKind(key);
    ASSERT_TRUE(kind.ok() && *kind) << c.kind.bits;
    EXPECT_EQ(**kind, c.kind) << c.kind.bits;
    // It can sign.
    EXPECT_TRUE(CheckKey(Issued(Content(), std::nullopt, key)).ok());
  }
}

TEST(Keys, OfOtherSizesAreRefused) {
  for (const KeyKind& bad : {KeyKind{Algorithm::kRsa, 2047, false}, KeyKind{Algorithm::kRsa, 8193, false},
                             KeyKind{Algorithm::kRsa, 0, false}, KeyKind{Algorithm::kEcdsa, 255, false},
                             KeyKind{Algorithm::kEcdsa, 2048, false}}) {
    EXPECT_EQ(MakeKey(bad).code(), Code::kInvalidArgument) << bad.bits;
  }
  EXPECT_EQ(ReadKeyKind("nonsense").code(), Code::kInvalidArgument);
}

TEST(IssuedCertificate, SaysWhatItIsToSay) {
  CertificateContent content = Content();
  content.common_name = "a name";
  content.organizations = {"one", "two"};
  auto facts = ReadCertificate(Issued(content).cert_pem);
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  EXPECT_EQ(facts->common_name, "a name");
  EXPECT_THAT(facts->organizations, ElementsAre("one", "two"));
  EXPECT_THAT(facts->dns_names, ElementsAre("b.ns.svc", "a.ns.svc"));
  EXPECT_THAT(facts->addresses, ElementsAre("127.0.0.1"));
  EXPECT_THAT(facts->hosts, ElementsAre("127.0.0.1", "a.ns.svc", "b.ns.svc"));
  EXPECT_EQ(facts->validity.not_before, content.validity.not_before);
  EXPECT_EQ(facts->validity.not_after, content.validity.not_after);
  EXPECT_FALSE(facts->authority);
  EXPECT_TRUE(facts->self_signed);
  EXPECT_TRUE(ReadCertificate(Authority().cert_pem)->authority);
}

// Without a subject, and no CA: as cert-manager's selfSigned issuers make them, and API servers trust them.
TEST(IssuedCertificate, ThatSignsItselfIsTrustedBesideAnotherOfThatKind) {
  auto one = Issued(Content()), other = Issued(Content());
  for (const std::string& bundle : {one.cert_pem, one.cert_pem + other.cert_pem, other.cert_pem + one.cert_pem}) {
    EXPECT_TRUE(VerifyServing(one.cert_pem, bundle, "a.ns.svc", kNow).ok());
    EXPECT_TRUE(VerifyServing(one.cert_pem, bundle, "127.0.0.1", kNow).ok());
  }
  EXPECT_FALSE(VerifyServing(one.cert_pem, other.cert_pem, "a.ns.svc", kNow).ok());
}

TEST(IssuedCertificate, OfAnAuthorityIsTrustedByIt) {
  auto ca = Authority();
  auto leaf = Issued(Content(), ca);
  EXPECT_TRUE(VerifyServing(leaf.cert_pem, ca.cert_pem, "b.ns.svc", kNow).ok());
  EXPECT_FALSE(VerifyServing(leaf.cert_pem, Authority().cert_pem, "b.ns.svc", kNow).ok());
  EXPECT_FALSE(ReadCertificate(leaf.cert_pem)->self_signed);
  // By way of a CA between them.
  auto between = Authority(ca);
  auto below = Issued(Content(), between);
  EXPECT_TRUE(VerifyServing(below.cert_pem + between.cert_pem, ca.cert_pem, "b.ns.svc", kNow).ok());
}

TEST(IssuedCertificate, IsForServersOnlyWhereItsUsagesSaySo) {
  auto ca = Authority();
  CertificateContent content = Content();
  content.extended_usages = {"serverAuth", "clientAuth"};
  EXPECT_TRUE(VerifyServing(Issued(content, ca).cert_pem, ca.cert_pem, "b.ns.svc", kNow).ok());
  content.extended_usages = {"clientAuth"};
  auto client = VerifyServing(Issued(content, ca).cert_pem, ca.cert_pem, "b.ns.svc", kNow);
  ASSERT_FALSE(client.ok());
  EXPECT_THAT(client.error().message, HasSubstr("purpose"));
}

TEST(IssuedCertificate, IsRefusedForWhatCantBeUsed) {
  auto ca = Authority();
  EXPECT_EQ(IssueCertificate(Content(), "nonsense", {}).code(), Code::kInvalidArgument);
  EXPECT_EQ(IssueCertificate(Content(), Key(), Certificate{ca.cert_pem, Key()}).code(), Code::kInvalidArgument);
  EXPECT_EQ(IssueCertificate(Content(), Key(), Certificate{"", ca.key_pem}).code(), Code::kInvalidArgument);
  for (auto change : {+[](CertificateContent& content) { content.dns_names = {"a,DNS:b"}; },
                      +[](CertificateContent& content) { content.common_name = std::string(65, 'a'); },
                      +[](CertificateContent& content) { content.key_usages = {"everything"}; }}) {
    CertificateContent content = Content();
    change(content);
    EXPECT_EQ(IssueCertificate(content, Key(), {}).code(), Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace capi::http
