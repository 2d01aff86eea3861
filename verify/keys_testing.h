// Keys and signatures made by OpenSSL, for tests.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_pkey_st;

namespace capi::verify {

// A pair of keys. A value.
class KeyPair {
 public:
  // "P-256", "P-384", "P-521", "secp256k1", "Ed25519", or "RSA" and a number of bits.
  explicit KeyPair(const std::string& kind);
  std::string PublicPem() const;
  std::string PrivatePem() const;
  // Of an RSA key, as bytes.
  std::string Modulus() const;
  // Bytes, not base64. `algorithm` isn't for Ed25519.
  std::string Sign(std::string_view message, const char* algorithm = "SHA256") const;

 private:
  std::shared_ptr<evp_pkey_st> key_;
};

// A public key that nobody may have the other half of.
std::string RsaPem(std::string_view modulus, unsigned long exponent);

}  // namespace capi::verify
