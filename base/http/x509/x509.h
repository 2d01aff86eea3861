// What certificates are made of, in OpenSSL's terms. All functions are thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/http/certificate.h"
#include "base/http/pem.h"

namespace capi::http {

// The deleter of a unique_ptr to what `Free` frees. Immutable.
template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* value) const {
    Free(value);
  }
};

// A value.
struct X509Extension {
  int kind;           // NID_...
  std::string value;  // as OpenSSL's configuration has it
};

Error CantMake();  // kInternal

Result<std::string> ToPem(X509* cert);
// In PKCS8, or in the older form of its algorithm.
Result<std::string> ToPem(EVP_PKEY* key, bool pkcs8 = true);

std::string AltNames(const std::vector<std::string>& hosts);  // "DNS:a,IP:127.0.0.1"

// False where OpenSSL can't.
bool AddExtension(X509* cert, X509* issuer, const X509Extension& extension);
bool SetSerialAndTimes(X509* cert, const Validity& validity);  // a random serial number

// The first one of a text. kInvalidArgument where there is none, or one that can't be read.
Result<X509Ptr> FirstCertificate(std::string_view pem, std::string_view what);

}  // namespace capi::http
