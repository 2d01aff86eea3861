// Keys of a wanted kind, and certificates that say what is wanted (certificate.h).
#include <fmt/format.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include "base/http/certificate.h"
#include "base/http/pem.h"
#include "base/http/x509/x509.h"
#include "base/strings.h"

namespace capi::http {
namespace {

using Algorithm = KeyKind::Algorithm;

constexpr int kLeastRsaBits = 2048, kMostRsaBits = 8192;

const char* CurveOf(int bits) {
  switch (bits) {
    case 256: return "P-256";
    case 384: return "P-384";
    case 521: return "P-521";
    default: return nullptr;
  }
}

KeyPtr Generate(const KeyKind& kind) {
  if (kind.algorithm == Algorithm::kRsa) return KeyPtr(EVP_RSA_gen(static_cast<unsigned>(kind.bits)));
  return KeyPtr(EVP_EC_gen(CurveOf(kind.bits)));
}

// As strong as the key that signs, as Go's and cert-manager's signers take it.
const EVP_MD* DigestFor(EVP_PKEY* key) {
  const int bits = EVP_PKEY_get_bits(key);
  const bool rsa = EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA;
  if (bits >= (rsa ? 4096 : 521)) return EVP_sha512();
  if (bits >= (rsa ? 3072 : 384)) return EVP_sha384();
  return EVP_sha256();
}

bool AddName(X509* cert, const char* kind, const std::string& value) {
  return X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), kind, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

bool SetSubject(X509* cert, const CertificateContent& content) {
  for (const std::string& organization : content.organizations) {
    if (!AddName(cert, "O", organization)) return false;
  }
  return content.common_name.empty() || AddName(cert, "CN", content.common_name);
}

bool HasSubject(const CertificateContent& content) {
  return !content.common_name.empty() || !content.organizations.empty();
}

std::vector<X509Extension> ExtensionsOf(const CertificateContent& content, bool self_signed) {
  std::vector<std::string> usages = content.key_usages;
  if (content.authority) usages.push_back("keyCertSign");
  std::vector<X509Extension> extensions;
  if (!usages.empty()) extensions.push_back({NID_key_usage, "critical," + Join(usages, ",")});
  if (!content.extended_usages.empty()) {
    extensions.push_back({NID_ext_key_usage, Join(content.extended_usages, ",")});
  }
  extensions.push_back({NID_basic_constraints, content.authority ? "critical,CA:TRUE" : "critical,CA:FALSE"});
  if (content.authority) extensions.push_back({NID_subject_key_identifier, "hash"});
  if (!self_signed) extensions.push_back({NID_authority_key_identifier, "keyid"});
  std::vector<std::string> hosts = content.dns_names;
  hosts.insert(hosts.end(), content.addresses.begin(), content.addresses.end());
  if (!hosts.empty()) {
    extensions.push_back({NID_subject_alt_name, (HasSubject(content) ? "" : "critical,") + AltNames(hosts)});
  }
  return extensions;
}

Status CheckHosts(const CertificateContent& content) {
  for (const std::vector<std::string>* hosts : {&content.dns_names, &content.addresses}) {
    for (const std::string& host : *hosts) TRY(CanonicalHost(host));
  }
  return Ok();
}

Status Sign(X509* cert, EVP_PKEY* key) {
  if (X509_sign(cert, key, DigestFor(key)) != 0) return Ok();
  return OpenSslError("certificate can't be signed");
}

}  // namespace

Result<std::string> MakeKey(const KeyKind& kind) {
  const bool rsa = kind.algorithm == Algorithm::kRsa;
  const bool known = rsa ? kind.bits >= kLeastRsaBits && kind.bits <= kMostRsaBits : CurveOf(kind.bits) != nullptr;
  if (!known) return Error{Code::kInvalidArgument, fmt::format("no key of {} bits can be made", kind.bits), {}};
  KeyPtr key = Generate(kind);
  if (!key) return CantMake();
  return ToPem(key.get(), kind.pkcs8);
}

Result<std::optional<KeyKind>> ReadKeyKind(std::string_view key_pem) {
  KeyPtr key = TRY(ReadPrivateKey(key_pem, "private key"));
  KeyKind kind;
  const int id = EVP_PKEY_get_base_id(key.get());
  if (id != EVP_PKEY_RSA && id != EVP_PKEY_EC) return std::optional<KeyKind>();
  kind.algorithm = id == EVP_PKEY_RSA ? Algorithm::kRsa : Algorithm::kEcdsa;
  kind.bits = EVP_PKEY_get_bits(key.get());
  kind.pkcs8 = key_pem.find("-----BEGIN PRIVATE KEY-----") != std::string_view::npos;
  return std::optional<KeyKind>(kind);
}

Result<std::string> IssueCertificate(const CertificateContent& content, const std::string& key_pem,
                                     const std::optional<Certificate>& authority) {
  TRY(CheckHosts(content));
  KeyPtr key = TRY(ReadPrivateKey(key_pem, "private key"));
  X509Ptr issuer;
  KeyPtr issuer_key;
  if (authority) {
    TRY(CheckKey(*authority));
    issuer = TRY(FirstCertificate(authority->cert_pem, "CA certificate"));
    issuer_key = TRY(ReadPrivateKey(authority->key_pem, "CA key"));
  }
  X509Ptr cert(X509_new());
  if (!cert || !SetSerialAndTimes(cert.get(), content.validity)) return CantMake();
  if (!SetSubject(cert.get(), content)) return OpenSslError("certificate's subject");
  X509* signer = issuer ? issuer.get() : cert.get();
  bool made = X509_set_pubkey(cert.get(), key.get()) == 1 &&
              X509_set_issuer_name(cert.get(), X509_get_subject_name(signer)) == 1;
  for (const X509Extension& extension : ExtensionsOf(content, !issuer)) {
    if (made && !AddExtension(cert.get(), signer, extension)) return OpenSslError("certificate's extensions");
  }
  if (!made) return CantMake();
  TRY(Sign(cert.get(), issuer_key ? issuer_key.get() : key.get()));
  return ToPem(cert.get());
}

}  // namespace capi::http
