// Certificates and keys in PEM, as OpenSSL has them.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace capi::http {

// Frees what OpenSSL has made. Immutable.
struct OpenSslFree {
  void operator()(BIO* bio) const;
  void operator()(X509* certificate) const;
  void operator()(EVP_PKEY* key) const;
};
using BioPtr = std::unique_ptr<BIO, OpenSslFree>;
using X509Ptr = std::unique_ptr<X509, OpenSslFree>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpenSslFree>;

// kInvalidArgument, `what` with the reason of OpenSSL's last error. Never a piece of what was read.
Error OpenSslError(std::string_view what);

BioPtr ReadOnlyBio(std::string_view text);

// All certificates of a text; none when it has none. One that can't be read is kInvalidArgument, wherever it stands: to
// leave out those behind it would be to trust, or to present, something else than what was written. Thread-safe.
Result<std::vector<X509Ptr>> ReadCertificates(std::string_view pem, std::string_view what);

// kInvalidArgument where there is none, or one with a passphrase. Thread-safe.
Result<KeyPtr> ReadPrivateKey(std::string_view pem, std::string_view what);

}  // namespace capi::http
