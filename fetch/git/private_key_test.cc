#include "fetch/git/private_key.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"

namespace capi::fetch {
namespace {

using testing::HasSubstr;
using testing::Not;

using std::string_literals::operator""s;  // NOLINT(misc-unused-using-decls): clang-tidy 14 overlooks its uses

std::string Pem(const std::string& label, const std::string& body) {
  return fmt::format("-----BEGIN {}-----\n{}\n-----END {}-----\n", label, body, label);
}

std::string Counted(const std::string& text) { return "\0\0\0"s + static_cast<char>(text.size()) + text; }

// The head of a key as ssh-keygen writes it, locked by so many rounds.
std::string Locked(const std::string& rounds, const std::string& function = "bcrypt") {
  const std::string head = "openssh-key-v1\0"s + Counted("aes256-ctr") + Counted(function);
  return Pem("OPENSSH PRIVATE KEY", Base64Encode(head + Counted(Counted("a salt") + rounds) + "s3cret"));
}

TEST(PrivateKey, SaysHowItIsUnlocked_T13_T15) {
  const std::string open = "openssh-key-v1\0"s + Counted("none") + Counted("none") + Counted("");
  const std::string pkcs1 = Base64Encode("\x30\x82\x01\x02\x02\x01\x00"s);
  const std::string locked = Base64Encode("\x30\x82\x01\x02\x30\x01\x00"s);
  const std::pair<std::string, const char*> cases[] = {
      {Pem("OPENSSH PRIVATE KEY", Base64Encode(open)), ""},
      {Locked("\0\0\0\x18"s), ""},
      {Locked("\0\0\1\0"s), ""},
      {Pem("RSA PRIVATE KEY", pkcs1), ""},
      {Locked("\0\0\1\1"s), "locked by 257 rounds, and 256 at most"},
      {Locked("\xff\xff\xff\xff"s), "locked by 4294967295 rounds"},
      {Locked("\0\0\1"s), "is no private key"},
      {Locked("\0\0\0\x18"s, "another"), "is no private key"},
      {Pem("ENCRYPTED PRIVATE KEY", locked), "ssh-keygen -p"},
      {Pem("PRIVATE KEY", locked), "ssh-keygen -p"},
      {Pem("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n" + pkcs1), "ssh-keygen -p"},
      {Pem("CERTIFICATE", pkcs1), "is no private key"},
      {Pem("RSA PRIVATE KEY", pkcs1) + Pem("RSA PRIVATE KEY", pkcs1), "is no private key"},
      {"before it\n" + Pem("RSA PRIVATE KEY", pkcs1), "is no private key"},
      {"-----BEGIN OPENSSH PRIVATE KEY-----" + Base64Encode(open) + "\n" + Locked("\xff\xff\xff\xff"s).substr(36),
       "is no private key"},
      {"-----BEGIN OPENSSH PRIVATE KEY-----", "is no private key"},
      {Pem("RSA PRIVATE KEY", pkcs1 + std::string(16'384, 'A')), "of more than 16384 bytes"},
      {"", "is no private key"},
  };
  for (const auto& [key, why] : cases) {
    const Status status = CheckPrivateKey(key);
    EXPECT_EQ(status.ok(), *why == '\0') << key;
    if (status.ok()) continue;
    EXPECT_THAT(status.error().message, HasSubstr(why));
    EXPECT_THAT(status.error().message, Not(HasSubstr("s3cret")));
  }
}

}  // namespace
}  // namespace capi::fetch
