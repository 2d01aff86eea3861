#include "base/http/certificate.h"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>

namespace capi::http {
namespace {

template <typename T, void (*Free)(T*)>
struct Freer {
  void operator()(T* p) const { Free(p); }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY, EVP_PKEY_free>>;
using Cert = std::unique_ptr<X509, Freer<X509, X509_free>>;
struct BioFree {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};
using Bio = std::unique_ptr<BIO, BioFree>;

Error Failed() { return {Code::kInternal, "OpenSSL can't make a certificate", {}}; }

std::string Text(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

std::string AltNames(const std::vector<std::string>& hosts) {
  std::string out;
  for (const auto& host : hosts) {
    unsigned char parsed[16];
    bool ip = inet_pton(AF_INET, host.c_str(), parsed) == 1 || inet_pton(AF_INET6, host.c_str(), parsed) == 1;
    out += (out.empty() ? "" : ",") + std::string(ip ? "IP:" : "DNS:") + host;
  }
  return out;
}

bool AddExtension(X509* cert, int nid, const std::string& value) {
  X509V3_CTX ctx;
  X509V3_set_ctx(&ctx, cert, cert, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &ctx, nid, value.c_str());
  if (extension == nullptr) return false;
  bool added = X509_add_ext(cert, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

}  // namespace

Result<Certificate> MakeSelfSigned(const std::vector<std::string>& hosts) {
  Key key(EVP_EC_gen("P-256"));
  Cert cert(X509_new());
  if (!key || !cert) return Failed();
  std::uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  X509_set_version(cert.get(), X509_VERSION_3);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert.get()), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(cert.get()), -3600);
  X509_time_adj_ex(X509_getm_notAfter(cert.get()), 3650, 0, nullptr);
  X509_set_pubkey(cert.get(), key.get());
  X509_NAME* name = X509_get_subject_name(cert.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>("capi-operator"), -1, -1,
                             0);
  X509_set_issuer_name(cert.get(), name);
  bool ok = AddExtension(cert.get(), NID_subject_alt_name, AltNames(hosts)) &&
            AddExtension(cert.get(), NID_basic_constraints, "critical,CA:TRUE") &&
            AddExtension(cert.get(), NID_ext_key_usage, "serverAuth");
  if (!ok || X509_sign(cert.get(), key.get(), EVP_sha256()) == 0) return Failed();
  Bio cert_text(BIO_new(BIO_s_mem())), key_text(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(cert_text.get(), cert.get()) != 1 ||
      PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return Failed();
  }
  return Certificate{Text(cert_text.get()), Text(key_text.get())};
}

}  // namespace capi::http
