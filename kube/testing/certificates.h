// Certificates and keys made on the spot (EC P-256, valid for a day).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace capi::kube {

struct KeyPair {
  std::string cert_pem, key_pem;
};

struct CertificateOptions {
  std::string common_name = "test";
  std::vector<std::string> organizations;  // groups of a client certificate
  std::vector<std::string> alt_names;      // as OpenSSL writes them: "IP:127.0.0.1", "DNS:localhost"
  bool authority = false;                  // may sign others
  const KeyPair* issuer = nullptr;         // null: self-signed
};

Result<KeyPair> MakeCertificate(const CertificateOptions& options);
// "EC PRIVATE KEY", which serves kube-apiserver as public key, too; PKCS#8 doesn't.
Result<std::string> MakePrivateKey();

}  // namespace capi::kube
