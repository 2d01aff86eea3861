#include "base/http/certificate.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>
#include <utility>

#include "base/http/pem.h"
#include "base/http/x509/x509.h"
#include "base/strings.h"

namespace capi::http {
namespace {

using Store = std::unique_ptr<X509_STORE, Deleter<X509_STORE_free>>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, Deleter<X509_STORE_CTX_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Deleter<GENERAL_NAMES_free>>;
using Usages = std::unique_ptr<EXTENDED_KEY_USAGE, Deleter<EXTENDED_KEY_USAGE_free>>;
// The list, not the certificates in it.
void FreeChain(STACK_OF(X509) * chain) { sk_X509_free(chain); }
using Chain = std::unique_ptr<STACK_OF(X509), Deleter<FreeChain>>;

// Who signs: itself where `cert` is null.
struct Issuer {
  X509* cert = nullptr;
  EVP_PKEY* key = nullptr;
};

struct Subject {
  std::string common_name;
  std::string organization = {};  // "" for none
};

bool AddName(X509* cert, const char* field, const std::string& value) {
  return X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0) == 1;
}

Result<Certificate> Make(const Subject& subject, const Validity& validity, const std::vector<X509Extension>& extensions,
                         const Issuer& issuer = {}) {
  KeyPtr key(EVP_EC_gen("P-256"));
  X509Ptr cert(X509_new());
  if (!key || !cert || !SetSerialAndTimes(cert.get(), validity)) return CantMake();
  X509* signer = issuer.cert == nullptr ? cert.get() : issuer.cert;
  bool ok = X509_set_pubkey(cert.get(), key.get()) == 1 &&
            (subject.organization.empty() || AddName(cert.get(), "O", subject.organization)) &&
            AddName(cert.get(), "CN", subject.common_name) &&
            X509_set_issuer_name(cert.get(), X509_get_subject_name(signer)) == 1;
  for (const X509Extension& extension : extensions) ok = ok && AddExtension(cert.get(), signer, extension);
  EVP_PKEY* signing_key = issuer.key == nullptr ? key.get() : issuer.key;
  if (!ok || X509_sign(cert.get(), signing_key, EVP_sha256()) == 0) return CantMake();
  std::string cert_pem = TRY(ToPem(cert.get()));
  std::string key_pem = TRY(ToPem(key.get()));
  return Certificate{std::move(cert_pem), std::move(key_pem)};
}

// `extensions` and those that all have which are no authority's.
Result<Certificate> Issue(const Certificate& authority, const Subject& subject, const Validity& validity,
                          std::vector<X509Extension> extensions) {
  X509Ptr cert = TRY(FirstCertificate(authority.cert_pem, "CA certificate"));
  KeyPtr key = TRY(ReadPrivateKey(authority.key_pem, "CA key"));
  if (X509_check_private_key(cert.get(), key.get()) != 1) return OpenSslError("CA key doesn't fit the certificate");
  extensions.push_back({NID_basic_constraints, "critical,CA:FALSE"});
  extensions.push_back({NID_key_usage, "critical,digitalSignature"});
  extensions.push_back({NID_subject_key_identifier, "hash"});
  extensions.push_back({NID_authority_key_identifier, "keyid:always"});
  return Make(subject, validity, extensions, {cert.get(), key.get()});
}

Result<WallTime> ToTime(const ASN1_TIME* time) {
  tm parts = {};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return OpenSslError("certificate: its times");
  // What no clock here shows, as 9999 for "never", is as far as one goes: it would come round to the past.
  const auto seconds =
      std::clamp<std::int64_t>(timegm(&parts), 0, std::chrono::system_clock::to_time_t(WallTime::max()));
  return std::chrono::system_clock::from_time_t(seconds);
}

std::string TextOf(const ASN1_STRING* value) {
  return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                     static_cast<size_t>(ASN1_STRING_length(value)));
}

std::string ToHost(const GENERAL_NAME& name) {
  if (name.type == GEN_DNS) return TextOf(name.d.dNSName);
  if (name.type != GEN_IPADD) return "";
  std::string bytes = TextOf(name.d.iPAddress);
  char out[INET6_ADDRSTRLEN] = "";
  if (bytes.size() == 4) inet_ntop(AF_INET, bytes.data(), out, sizeof out);
  if (bytes.size() == 16) inet_ntop(AF_INET6, bytes.data(), out, sizeof out);
  return out;
}

void ReadHosts(const X509* cert, CertificateFacts& facts) {
  Names names(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(cert, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME& name = *sk_GENERAL_NAME_value(names.get(), i);
    std::string host = ToHost(name);
    if (host.empty()) continue;
    facts.hosts.push_back(host);
    (name.type == GEN_DNS ? facts.dns_names : facts.addresses).push_back(std::move(host));
  }
  std::sort(facts.hosts.begin(), facts.hosts.end());
}

std::vector<std::string> SubjectEntries(const X509* cert, int kind) {
  const X509_NAME* subject = X509_get_subject_name(cert);
  std::vector<std::string> values;
  for (int at = X509_NAME_get_index_by_NID(subject, kind, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(subject, kind, at)) {
    values.push_back(TextOf(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
  }
  return values;
}

std::vector<std::string> KeyUsages(X509* cert) {
  constexpr std::pair<std::uint32_t, const char*> kNames[] = {
      {KU_CRL_SIGN, "cRLSign"},
      {KU_DATA_ENCIPHERMENT, "dataEncipherment"},
      {KU_DECIPHER_ONLY, "decipherOnly"},
      {KU_DIGITAL_SIGNATURE, "digitalSignature"},
      {KU_ENCIPHER_ONLY, "encipherOnly"},
      {KU_KEY_AGREEMENT, "keyAgreement"},
      {KU_KEY_CERT_SIGN, "keyCertSign"},
      {KU_KEY_ENCIPHERMENT, "keyEncipherment"},
      {KU_NON_REPUDIATION, "nonRepudiation"},
  };
  std::vector<std::string> names;
  const std::uint32_t usages = X509_get_key_usage(cert);
  if (usages == UINT32_MAX) return names;  // it says none
  for (const auto& [bit, name] : kNames) {
    if ((usages & bit) != 0) names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> ExtendedUsages(const X509* cert) {
  std::vector<std::string> names;
  Usages usages(static_cast<EXTENDED_KEY_USAGE*>(X509_get_ext_d2i(cert, NID_ext_key_usage, nullptr, nullptr)));
  for (int i = 0; usages && i < sk_ASN1_OBJECT_num(usages.get()); ++i) {
    const int kind = OBJ_obj2nid(sk_ASN1_OBJECT_value(usages.get(), i));
    if (kind != NID_undef) names.emplace_back(OBJ_nid2sn(kind));
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool IsSelfSigned(X509* cert) {
  bool itself = X509_verify(cert, X509_get0_pubkey(cert)) == 1;
  ERR_clear_error();
  return itself;
}

// As NewClientTls trusts: whatever is in the store, be it an intermediate CA alone. Without a host for any use.
bool SetParameters(X509_STORE_CTX* ctx, const std::string& host, WallTime at) {
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(ctx);
  X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_time(parameters, std::chrono::system_clock::to_time_t(at));
  if (host.empty()) return X509_STORE_CTX_set_purpose(ctx, X509_PURPOSE_ANY) == 1;
  bool named = IsAddress(host) ? X509_VERIFY_PARAM_set1_ip_asc(parameters, host.c_str()) == 1
                               : X509_VERIFY_PARAM_set1_host(parameters, host.c_str(), host.size()) == 1;
  return named && X509_STORE_CTX_set_purpose(ctx, X509_PURPOSE_SSL_SERVER) == 1;
}

Status Verify(std::string_view cert_pem, std::string_view ca_pem, const std::string& host, WallTime at) {
  auto certs = TRY(ReadCertificates(cert_pem, "certificate"));
  if (certs.empty()) return Error{Code::kInvalidArgument, "certificate: no PEM certificate", {}};
  Store store(X509_STORE_new());
  StoreContext ctx(X509_STORE_CTX_new());
  Chain chain(sk_X509_new_null());
  if (!store || !ctx || !chain) return Error{Code::kInternal, "OpenSSL can't verify a certificate", {}};
  for (const X509Ptr& root : TRY(ReadCertificates(ca_pem, "CA certificate"))) {
    if (X509_STORE_add_cert(store.get(), root.get()) != 1) return OpenSslError("CA certificate");
  }
  for (const X509Ptr& cert : certs) sk_X509_push(chain.get(), cert.get());
  if (X509_STORE_CTX_init(ctx.get(), store.get(), certs.front().get(), chain.get()) != 1 ||
      !SetParameters(ctx.get(), host, at)) {
    return OpenSslError(fmt::format("\"{}\" can't be verified", host));
  }
  bool verified = X509_verify_cert(ctx.get()) == 1;
  ERR_clear_error();
  if (verified) return Ok();
  const char* why = X509_verify_cert_error_string(X509_STORE_CTX_get_error(ctx.get()));
  return Error{
      Code::kFailedPrecondition, fmt::format("certificate for {}: {}", host.empty() ? "any use" : host, why), {}};
}

}  // namespace

Result<std::string> CanonicalHost(std::string_view host) {
  std::string text = ToLower(host);
  unsigned char bytes[16];
  char out[INET6_ADDRSTRLEN] = "";
  for (int family : {AF_INET, AF_INET6}) {
    if (inet_pton(family, text.c_str(), bytes) == 1) return std::string(inet_ntop(family, bytes, out, sizeof out));
  }
  if (IsDns1123Subdomain(text)) return text;
  return Error{Code::kInvalidArgument, fmt::format("\"{}\" is no host name and no IP address", host), {}};
}

Result<Certificate> MakeSelfSigned(const std::vector<std::string>& hosts) {
  WallTime now = SystemClock().Now();
  return Make({"capi-operator"}, {now - std::chrono::hours(1), now + std::chrono::hours(24 * 3650)},
              {{NID_subject_alt_name, AltNames(hosts)},
               {NID_basic_constraints, "critical,CA:TRUE"},
               {NID_ext_key_usage, "serverAuth"}});
}

Result<Certificate> MakeAuthority(const std::string& common_name, const Validity& validity) {
  return Make({common_name}, validity,
              {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
               {NID_key_usage, "critical,digitalSignature,keyCertSign"},
               {NID_subject_key_identifier, "hash"}});
}

Result<Certificate> IssueServing(const Certificate& authority, const std::vector<std::string>& hosts,
                                 const Validity& validity) {
  if (hosts.empty()) return Error{Code::kInvalidArgument, "a server certificate needs a host", {}};
  return Issue(authority, {"capi-operator webhooks"}, validity,
               {{NID_subject_alt_name, AltNames(hosts)}, {NID_ext_key_usage, "serverAuth"}});
}

Result<Certificate> IssueClient(const Certificate& authority, const std::string& user, const std::string& group,
                                const Validity& validity) {
  if (user.empty()) return Error{Code::kInvalidArgument, "a client certificate needs a user", {}};
  return Issue(authority, {user, group}, validity, {{NID_ext_key_usage, "clientAuth"}});
}

Result<CertificateFacts> ReadCertificate(std::string_view cert_pem) {
  X509Ptr cert = TRY(FirstCertificate(cert_pem, "certificate"));
  CertificateFacts facts;
  facts.validity.not_before = TRY(ToTime(X509_get0_notBefore(cert.get())));
  facts.validity.not_after = TRY(ToTime(X509_get0_notAfter(cert.get())));
  ReadHosts(cert.get(), facts);
  facts.authority = X509_check_ca(cert.get()) == 1;
  facts.organizations = SubjectEntries(cert.get(), NID_organizationName);
  auto common_names = SubjectEntries(cert.get(), NID_commonName);
  if (!common_names.empty()) facts.common_name = std::move(common_names.back());
  facts.self_signed = IsSelfSigned(cert.get());
  facts.key_usages = KeyUsages(cert.get());
  facts.extended_usages = ExtendedUsages(cert.get());
  return facts;
}

Result<std::vector<std::string>> SplitCertificates(std::string_view certs_pem) {
  std::vector<std::string> out;
  for (const X509Ptr& cert : TRY(ReadCertificates(certs_pem, "certificate"))) out.push_back(TRY(ToPem(cert.get())));
  return out;
}

Status CheckKey(const Certificate& certificate) {
  X509Ptr cert = TRY(FirstCertificate(certificate.cert_pem, "certificate"));
  KeyPtr key = TRY(ReadPrivateKey(certificate.key_pem, "private key"));
  if (X509_check_private_key(cert.get(), key.get()) == 1) return Ok();
  return OpenSslError("private key doesn't fit the certificate");
}

Status VerifyServing(std::string_view cert_pem, std::string_view ca_pem, const std::string& host, WallTime at) {
  if (host.empty()) return Error{Code::kInvalidArgument, "certificate: no host to verify it for", {}};
  return Verify(cert_pem, ca_pem, host, at);
}

Status VerifyChain(std::string_view cert_pem, std::string_view ca_pem, WallTime at) {
  return Verify(cert_pem, ca_pem, "", at);
}

}  // namespace capi::http
