// The public keys that releases are verified with (behaviour.md T14).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

namespace capi::verify {

// What isn't verified: kFailedPrecondition.
Error NotVerified(std::string message);

// Bytes that were signed; each of their digests is made once, whatever number of keys is tried. Lives no longer than
// the bytes. Thread-compatible.
class Message {
 public:
  explicit Message(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes() const { return bytes_; }
  // Of "SHA256", "SHA384" or "SHA512", as bytes.
  const std::string& Digest(const char* algorithm);

 private:
  std::string_view bytes_;
  std::map<std::string, std::string> digests_;
};

// Immutable, so thread-safe.
class PublicKeys {
 public:
  // Each key "*.pub" of a Secret, as Flux has it; what has another name isn't looked at. One PEM block "PUBLIC KEY"
  // each: ECDSA of P-256, P-384 or P-521, RSA from 2048 to 8192 bits, or Ed25519. kFailedPrecondition names the first
  // that is anything else, or says that there is none; 32 at most.
  static Result<PublicKeys> Read(const std::map<std::string, std::string>& secret);

  // Whether one of the keys made it. Digests as cosign takes them: SHA-256, for P-384 and P-521 also the curve's own.
  bool Made(Message& message, std::string_view signature) const;
  // "cosign.pub, next.pub"
  std::string Names() const;
  bool HasEd25519() const;

 private:
  struct Key {
    std::string name;
    std::shared_ptr<evp_pkey_st> key;
  };
  std::vector<Key> keys_;
};

}  // namespace capi::verify
