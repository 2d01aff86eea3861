#include "base/streams/sha1.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstdio>
#include <cstdlib>

namespace capi {
namespace {

// The library has it, or the process can't know what anything is.
void Require(bool worked) {
  if (worked) return;
  fmt::print(stderr, "no SHA-1\n");
  std::abort();
}

}  // namespace

struct Sha1::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha1::Sha1() : state_(std::make_unique<State>()) {
  Require(state_->context != nullptr && EVP_DigestInit_ex(state_->context, EVP_sha1(), nullptr) == 1);
}

Sha1::~Sha1() = default;

void Sha1::Add(std::string_view bytes) { Require(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1); }

Sha1Digest HmacSha1(std::string_view key, std::string_view bytes) {
  Sha1Digest out{};
  unsigned length = 0;
  Require(HMAC(EVP_sha1(), key.data(), static_cast<int>(key.size()),
               reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
               reinterpret_cast<unsigned char*>(out.data()), &length) != nullptr);
  return out;
}

Sha1Digest Sha1::Finish() {
  Sha1Digest out{};
  unsigned length = 0;
  Require(EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(out.data()), &length) == 1);
  return out;
}

}  // namespace capi
