#include "verify/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "verify/keys_testing.h"

namespace capi::verify {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kText = "kind: Namespace\n";

bool Made(const std::string& pem, const std::string& signature, std::string_view text = kText) {
  auto keys = PublicKeys::Read({{"a.pub", pem}});
  EXPECT_TRUE(keys.ok()) << keys.error().message;
  Message message(text);
  return keys.ok() && keys->Made(message, signature);
}

// T14: the kinds of keys, with the digests that cosign takes.
TEST(PublicKeys, VerifyWhatEachKindSigns) {
  struct Case {
    const char *kind, *algorithm;
    bool taken;
  };
  for (const Case& c : {Case{"P-256", "SHA256", true},
                        {"P-256", "SHA384", false},
                        {"P-384", "SHA256", true},
                        {"P-384", "SHA384", true},
                        {"P-384", "SHA512", false},
                        {"P-521", "SHA256", true},
                        {"P-521", "SHA512", true},
                        {"P-521", "SHA384", false},
                        {"RSA2048", "SHA256", true},
                        {"RSA2048", "SHA512", false},
                        {"RSA2048", "SHA1", false},
                        {"RSA4096", "SHA256", true},
                        {"Ed25519", "", true}}) {
    const KeyPair pair(c.kind);
    const std::string signature = pair.Sign(kText, c.algorithm), pem = pair.PublicPem();
    EXPECT_EQ(Made(pem, signature), c.taken) << c.kind << " " << c.algorithm;
    if (!c.taken) continue;
    EXPECT_FALSE(Made(pem, signature, "kind: Namespace")) << c.kind;
    EXPECT_FALSE(Made(KeyPair(c.kind).PublicPem(), signature)) << c.kind << ", another key";
    EXPECT_FALSE(Made(pem, "")) << c.kind;
    EXPECT_FALSE(Made(pem, signature + std::string(1, '\0'))) << c.kind;
    EXPECT_FALSE(Made(pem, signature.substr(1))) << c.kind;
  }
}

// T14: a change of any bit of a signature.
TEST(PublicKeys, RefuseASignatureWithAnotherBit) {
  for (const char* kind : {"P-256", "RSA2048", "Ed25519"}) {
    const KeyPair pair(kind);
    const std::string signature = pair.Sign(kText);
    auto keys = PublicKeys::Read({{"a.pub", pair.PublicPem()}});
    ASSERT_TRUE(keys.ok());
    Message message(kText);
    ASSERT_TRUE(keys->Made(message, signature));
    for (size_t bit = 0; bit < signature.size() * 8; ++bit) {
      std::string changed = signature;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_FALSE(keys->Made(message, changed)) << kind << ", bit " << bit;
    }
  }
}

// T14: one of several keys is enough, so that one can follow another; what isn't called *.pub isn't looked at.
TEST(PublicKeys, OneOfThemIsEnough) {
  const KeyPair former("P-256"), next("Ed25519");
  auto keys = PublicKeys::Read({{"former.pub", former.PublicPem()},
                                {"next.pub", "\n" + next.PublicPem() + "\n"},
                                {"cosign.key", former.PrivatePem()},
                                {"cosign.password", ""}});
  ASSERT_TRUE(keys.ok()) << keys.error().message;
  EXPECT_EQ(keys->Names(), "former.pub, next.pub");
  Message message(kText);
  EXPECT_TRUE(keys->Made(message, former.Sign(kText)));
  EXPECT_TRUE(keys->Made(message, next.Sign(kText)));
  EXPECT_FALSE(keys->Made(message, KeyPair("P-256").Sign(kText)));
}

// The PEM with a byte behind the key in it.
std::string WithAByteMore(std::string pem) {
  const size_t begin = pem.find('\n') + 1, end = pem.find("-----END");
  std::string base64 = pem.substr(begin, end - begin);
  std::erase(base64, '\n');
  return pem.substr(0, begin) + Base64Encode(Base64Decode(base64).value() + "x") + "\n" + pem.substr(end);
}

// T14: anything else is an error that names the key, and none is passed over in silence.
TEST(PublicKeys, RefuseWhatIsNoKey) {
  const std::string good = KeyPair("P-256").PublicPem();
  const std::string last = good.substr(0, good.size() - 20);
  const KeyPair rsa("RSA2048");
  ASSERT_EQ(RsaPem(rsa.Modulus(), 65537), rsa.PublicPem());
  const struct {
    std::string text, error;
  } cases[] = {
      {"", "it is no PEM"},
      {"ssh-ed25519 AAAA", "it is no PEM"},
      {last, "it is no PEM"},
      {good + good, "more than one block is in it"},
      {good + "x", "more than one block is in it"},
      {"# a comment\n" + good, "it is no PEM"},
      {KeyPair("P-256").PrivatePem(), "it is a PRIVATE KEY"},
      {KeyPair("secp256k1").PublicPem(), "it is a key of another kind"},
      {KeyPair("RSA1024").PublicPem(), "it is a key of another kind"},
      {RsaPem(std::string(1025, '\xff'), 65537), "it is a key of another kind"},
      {RsaPem(rsa.Modulus(), 1), "it is a damaged key"},  // with which anybody can sign
      {WithAByteMore(good), "it can't be read"},
      {"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "it can't be read"},
      {good + std::string(20'000, '\n') + "x", "it has more than 16384 bytes"},
  };
  for (const auto& c : cases) {
    auto keys = PublicKeys::Read({{"good.pub", good}, {"odd.pub", c.text}});
    ASSERT_FALSE(keys.ok()) << c.error;
    EXPECT_EQ(keys.code(), Code::kFailedPrecondition);
    EXPECT_THAT(keys.error().message, HasSubstr("key odd.pub: " + c.error + "; it has to be one PEM block"));
    EXPECT_THAT(keys.error().message, Not(HasSubstr("good.pub")));
  }
}

TEST(PublicKeys, RefuseNoneAndTooMany) {
  for (const auto& secret : {std::map<std::string, std::string>(), {{"cosign.key", "x"}}, {{"pub", "x"}}}) {
    auto none = PublicKeys::Read(secret);
    ASSERT_FALSE(none.ok());
    EXPECT_THAT(none.error().message, HasSubstr("it has no key *.pub"));
  }
  std::map<std::string, std::string> many;
  const std::string pem = KeyPair("P-256").PublicPem();
  for (int i = 0; i < 33; ++i) many[std::to_string(i) + ".pub"] = pem;
  auto keys = PublicKeys::Read(many);
  ASSERT_FALSE(keys.ok());
  EXPECT_THAT(keys.error().message, HasSubstr("more than 32 keys"));
  many.erase("0.pub");
  EXPECT_TRUE(PublicKeys::Read(many).ok());
}

}  // namespace
}  // namespace capi::verify
