#include "verify/keys_testing.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

namespace capi::verify {
namespace {

EVP_PKEY* Make(const std::string& kind) {
  if (kind == "Ed25519") return EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  if (kind.starts_with("RSA")) return EVP_RSA_gen(std::stoul(kind.substr(3)));
  return EVP_EC_gen(kind.c_str());
}

template <typename Write>
std::string Pem(Write write) {
  std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  write(bio.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

}  // namespace

KeyPair::KeyPair(const std::string& kind) : key_(Make(kind), EVP_PKEY_free) { EXPECT_NE(key_, nullptr) << kind; }

std::string KeyPair::PublicPem() const {
  return Pem([&](BIO* bio) { PEM_write_bio_PUBKEY(bio, key_.get()); });
}

std::string KeyPair::PrivatePem() const {
  return Pem([&](BIO* bio) { PEM_write_bio_PrivateKey(bio, key_.get(), nullptr, nullptr, 0, nullptr, nullptr); });
}

std::string KeyPair::Sign(std::string_view message, const char* algorithm) const {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  const bool pure = EVP_PKEY_get_base_id(key_.get()) == EVP_PKEY_ED25519;
  const EVP_MD* digest = pure ? nullptr : EVP_get_digestbyname(algorithm);
  EXPECT_EQ(EVP_DigestSignInit(context.get(), nullptr, digest, nullptr, key_.get()), 1);
  const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
  size_t size = 0;
  EXPECT_EQ(EVP_DigestSign(context.get(), nullptr, &size, bytes, message.size()), 1);
  std::string out(size, '\0');
  EXPECT_EQ(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, bytes, message.size()),
            1);
  out.resize(size);
  return out;
}

}  // namespace capi::verify
