#include "fetch/oci/running_digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <cstdlib>
#include <iterator>

namespace capi::fetch {
namespace {

// As RandomBytes: without it nothing that comes can be trusted.
void Must(bool done) {
  if (done) return;
  fmt::print(stderr, "no SHA-256\n");
  std::abort();
}

}  // namespace

struct RunningDigest::State {
  State() = default;
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
};

RunningDigest::RunningDigest() : state_(std::make_unique<State>()) {
  Must(state_->context != nullptr && EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1);
}
RunningDigest::~RunningDigest() = default;

void RunningDigest::Add(std::string_view piece) {
  Must(EVP_DigestUpdate(state_->context, piece.data(), piece.size()) == 1);
}

std::string RunningDigest::Text() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  Must(EVP_DigestFinal_ex(state_->context, digest, &length) == 1);
  std::string out = "sha256:";
  for (unsigned i = 0; i < length; ++i) fmt::format_to(std::back_inserter(out), "{:02x}", digest[i]);
  return out;
}

}  // namespace capi::fetch
