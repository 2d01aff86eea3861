// Certificates made on the spot (ECDSA P-256, except where a KeyKind says otherwise), and what those of others say. All
// functions are thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace capi::http {

struct Certificate {
  std::string cert_pem, key_pem;
};

// What a private key is, and how its PEM writes it. A value.
struct KeyKind {
  enum class Algorithm { kRsa, kEcdsa };
  Algorithm algorithm = Algorithm::kRsa;
  int bits = 2048;     // RSA: 2048 to 8192; ECDSA: 256, 384 or 521
  bool pkcs8 = false;  // "PRIVATE KEY"; else "RSA PRIVATE KEY" (PKCS1) or "EC PRIVATE KEY" (SEC1)
  bool operator==(const KeyKind&) const = default;
};

// When a certificate counts, in whole seconds; of one that is read between 1970 and 2262. A value.
struct Validity {
  WallTime not_before, not_after;
};

// What a certificate says of itself. A value.
struct CertificateFacts {
  Validity validity;
  std::vector<std::string> hosts;  // DNS names and IP addresses of its subject alternative names, sorted
  bool authority = false;          // may issue others
  std::string common_name;         // "" for none, as the organizations of its subject
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names, addresses;  // of `hosts`, in the certificate's order
  bool self_signed = false;                       // verified by its own key
  // As in CertificateContent, sorted; keyCertSign among them. An extended one that has no name there is left out.
  std::vector<std::string> key_usages, extended_usages;
};

// What a certificate is to say. A value.
struct CertificateContent {
  std::string common_name;  // "" for none
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names, addresses;
  Validity validity;
  bool authority = false;  // may issue others, with keyCertSign
  // OpenSSL's names: "digitalSignature", "keyEncipherment"; "serverAuth", "clientAuth". None leaves the extension out.
  std::vector<std::string> key_usages, extended_usages;
};

// A host as a certificate writes it: a DNS name in lower case, an IP address in its shortest form. kInvalidArgument for
// what is neither.
Result<std::string> CanonicalHost(std::string_view host);

// Whether it is an IP address, and no DNS name: certificates write the two apart.
bool IsAddress(const std::string& host);

// A self-signed server certificate (ten years) for these host names and IP addresses.
Result<Certificate> MakeSelfSigned(const std::vector<std::string>& hosts);

// A CA that issues server certificates, and no further CAs. Two of the same name are told apart by their keys.
Result<Certificate> MakeAuthority(const std::string& common_name, const Validity& validity);

// A server certificate for these host names and IP addresses. kInvalidArgument for an authority whose PEM is no
// certificate with its key.
Result<Certificate> IssueServing(const Certificate& authority, const std::vector<std::string>& hosts,
                                 const Validity& validity);

// A new key. kInvalidArgument for a size that isn't one of those above.
Result<std::string> MakeKey(const KeyKind& kind);

// Of a key in PEM; nullopt for one that is neither RSA nor ECDSA. kInvalidArgument for what is none.
Result<std::optional<KeyKind>> ReadKeyKind(std::string_view key_pem);

// A certificate for that key (PEM), signed by `authority`, or by the key itself where there is none; with the digest
// that fits the size of the signing key. An empty subject makes the alternative names critical. kInvalidArgument for
// keys and certificates that can't be used.
Result<std::string> IssueCertificate(const CertificateContent& content, const std::string& key_pem,
                                     const std::optional<Certificate>& authority);

// A client certificate by which a Kubernetes API server knows `user`, in `group` ("" for none). Errors as above.
Result<Certificate> IssueClient(const Certificate& authority, const std::string& user, const std::string& group,
                                const Validity& validity);

// Of the first certificate of a PEM text. kInvalidArgument where there is none, or one that can't be read.
Result<CertificateFacts> ReadCertificate(std::string_view cert_pem);

// The certificates of a PEM text one by one, written alike. kInvalidArgument where one can't be read.
Result<std::vector<std::string>> SplitCertificates(std::string_view certs_pem);

// kInvalidArgument unless the key is that of the first certificate.
Status CheckKey(const Certificate& certificate);

// Whether the chain `cert_pem` leads to one of the certificates of `ca_pem`, for whatever host and use: errors as those
// of VerifyServing.
Status VerifyChain(std::string_view cert_pem, std::string_view ca_pem, WallTime at);

// Whether a client that trusts the certificates of `ca_pem` alone takes the chain `cert_pem` for that host (a name or
// an IP address) at that time: kFailedPrecondition with the reason where it doesn't, kInvalidArgument for what is no
// PEM.
Status VerifyServing(std::string_view cert_pem, std::string_view ca_pem, const std::string& host, WallTime at);

}  // namespace capi::http
