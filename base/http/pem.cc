#include "base/http/pem.h"

#include <fmt/core.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <string>

namespace capi::http {
namespace {

// Keys with a passphrase are refused, instead of OpenSSL asking for it on the terminal.
int NoPassphrase(char*, int, int, void*) { return 0; }

}  // namespace

void OpenSslFree::operator()(BIO* bio) const { BIO_free(bio); }
void OpenSslFree::operator()(X509* certificate) const { X509_free(certificate); }
void OpenSslFree::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }

Error OpenSslError(std::string_view what) {
  unsigned long code = ERR_peek_last_error();
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  ERR_clear_error();
  if (reason == nullptr) return Error{Code::kInvalidArgument, std::string(what), {}};
  return Error{Code::kInvalidArgument, fmt::format("{}: {}", what, reason), {}};
}

BioPtr ReadOnlyBio(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Result<std::vector<X509Ptr>> ReadCertificates(std::string_view pem, std::string_view what) {
  BioPtr bio = ReadOnlyBio(pem);
  std::vector<X509Ptr> all;
  ERR_clear_error();
  while (X509Ptr next{PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)}) all.push_back(std::move(next));
  unsigned long error = ERR_peek_last_error();
  bool at_end = ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  if (!at_end) return OpenSslError(fmt::format("{} {}", what, all.size() + 1));
  ERR_clear_error();
  return all;
}

Result<KeyPtr> ReadPrivateKey(std::string_view pem, std::string_view what) {
  ERR_clear_error();
  BioPtr bio = ReadOnlyBio(pem);
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr));
  if (!key) return OpenSslError(what);
  return key;
}

}  // namespace capi::http
