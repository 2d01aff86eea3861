#include "fetch/oci/running_digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <iterator>

namespace capi::fetch {

struct RunningDigest::State {
  State() = default;
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
};

RunningDigest::RunningDigest() : state_(std::make_unique<State>()) {
  EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr);
}
RunningDigest::~RunningDigest() = default;

void RunningDigest::Add(std::string_view piece) { EVP_DigestUpdate(state_->context, piece.data(), piece.size()); }

std::string RunningDigest::Text() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  EVP_DigestFinal_ex(state_->context, digest, &length);
  std::string out = "sha256:";
  for (unsigned i = 0; i < length; ++i) fmt::format_to(std::back_inserter(out), "{:02x}", digest[i]);
  return out;
}

}  // namespace capi::fetch
