// Certificates made on the spot (ECDSA P-256), and what those of others say. All functions are thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace capi::http {

struct Certificate {
  std::string cert_pem, key_pem;
};

// When a certificate counts, in whole seconds. A value.
struct Validity {
  WallTime not_before, not_after;
};

// What a certificate says of itself. A value.
struct CertificateFacts {
  Validity validity;
  std::vector<std::string> hosts;  // DNS names and IP addresses of its subject alternative names, sorted
  bool authority = false;          // may issue others
};

// A host as a certificate writes it: a DNS name in lower case, an IP address in its shortest form. kInvalidArgument for
// what is neither.
Result<std::string> CanonicalHost(std::string_view host);

// A self-signed server certificate (ten years) for these host names and IP addresses.
Result<Certificate> MakeSelfSigned(const std::vector<std::string>& hosts);

// A CA that issues server certificates, and no further CAs. Two of the same name are told apart by their keys.
Result<Certificate> MakeAuthority(const std::string& common_name, const Validity& validity);

// A server certificate for these host names and IP addresses. kInvalidArgument for an authority whose PEM is no
// certificate with its key.
Result<Certificate> IssueServing(const Certificate& authority, const std::vector<std::string>& hosts,
                                 const Validity& validity);

// A client certificate by which a Kubernetes API server knows `user`, in `group` ("" for none). Errors as above.
Result<Certificate> IssueClient(const Certificate& authority, const std::string& user, const std::string& group,
                                const Validity& validity);

// Of the first certificate of a PEM text. kInvalidArgument where there is none, or one that can't be read.
Result<CertificateFacts> ReadCertificate(std::string_view cert_pem);

// The certificates of a PEM text one by one, written alike. kInvalidArgument where one can't be read.
Result<std::vector<std::string>> SplitCertificates(std::string_view certs_pem);

// kInvalidArgument unless the key is that of the first certificate.
Status CheckKey(const Certificate& certificate);

// Whether a client that trusts the certificates of `ca_pem` alone takes the chain `cert_pem` for that host (a name or
// an IP address) at that time: kFailedPrecondition with the reason where it doesn't, kInvalidArgument for what is no
// PEM.
Status VerifyServing(std::string_view cert_pem, std::string_view ca_pem, const std::string& host, WallTime at);

}  // namespace capi::http
