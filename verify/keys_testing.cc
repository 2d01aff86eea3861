#include "verify/keys_testing.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

namespace capi::verify {
namespace {

using Number = std::unique_ptr<BIGNUM, decltype(&BN_free)>;

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

std::string KeyPair::Modulus() const {
  BIGNUM* modulus = nullptr;
  EXPECT_EQ(EVP_PKEY_get_bn_param(key_.get(), OSSL_PKEY_PARAM_RSA_N, &modulus), 1);
  const Number owner(modulus, BN_free);
  std::string out(static_cast<size_t>(BN_num_bytes(modulus)), '\0');
  BN_bn2bin(modulus, reinterpret_cast<unsigned char*>(out.data()));
  return out;
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

std::string RsaPem(std::string_view modulus, unsigned long exponent) {
  const Number n(
      BN_bin2bn(reinterpret_cast<const unsigned char*>(modulus.data()), static_cast<int>(modulus.size()), nullptr),
      BN_free);
  const std::unique_ptr<OSSL_PARAM_BLD, decltype(&OSSL_PARAM_BLD_free)> build(OSSL_PARAM_BLD_new(),
                                                                              OSSL_PARAM_BLD_free);
  EXPECT_EQ(OSSL_PARAM_BLD_push_BN(build.get(), OSSL_PKEY_PARAM_RSA_N, n.get()), 1);
  EXPECT_EQ(OSSL_PARAM_BLD_push_ulong(build.get(), OSSL_PKEY_PARAM_RSA_E, exponent), 1);
  const std::unique_ptr<OSSL_PARAM, decltype(&OSSL_PARAM_free)> params(OSSL_PARAM_BLD_to_param(build.get()),
                                                                       OSSL_PARAM_free);
  const std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> context(
      EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr), EVP_PKEY_CTX_free);
  EVP_PKEY* made = nullptr;
  EXPECT_EQ(EVP_PKEY_fromdata_init(context.get()), 1);
  EXPECT_EQ(EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_PUBLIC_KEY, params.get()), 1);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(made, EVP_PKEY_free);
  return Pem([&](BIO* bio) { PEM_write_bio_PUBKEY(bio, key.get()); });
}

}  // namespace capi::verify
