#include "kube/testing/certificates.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>

#include "base/strings.h"

namespace capi::kube {
namespace {

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* value) const {
    Free(value);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Memory = std::unique_ptr<BIO, Freer<BIO_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freer<X509_EXTENSION_free>>;

Error OpenSslError(const char* what) {
  char text[256] = "";
  ERR_error_string_n(ERR_get_error(), text, sizeof text);
  return {Code::kInternal, std::string(what) + ": " + text, {}};
}

std::string Content(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

std::string KeyPem(EVP_PKEY* key) {
  Memory out(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(out.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return Content(out.get());
}

std::string CertPem(X509* cert) {
  Memory out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(out.get(), cert);
  return Content(out.get());
}

Memory Reader(const std::string& text) { return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

Key NewKey() { return Key(EVP_EC_gen("P-256")); }

void AddExtension(X509* cert, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  Extension extension(X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()));
  if (extension) X509_add_ext(cert, extension.get(), -1);
}

void AddName(X509_NAME* name, const char* field, const std::string& value) {
  X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.data()),
                             static_cast<int>(value.size()), -1, 0);
}

// Subject, serial number and life time.
void Describe(X509* cert, const CertificateOptions& options) {
  X509_set_version(cert, X509_VERSION_3);
  unsigned char serial[8];
  RAND_bytes(serial, sizeof serial);
  serial[0] &= 0x7f;
  BIGNUM* number = BN_bin2bn(serial, sizeof serial, nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));
  BN_free(number);
  X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
  X509_gmtime_adj(X509_getm_notAfter(cert), 24 * 3600);
  X509_NAME* name = X509_get_subject_name(cert);
  for (const std::string& organization : options.organizations) AddName(name, "O", organization);
  AddName(name, "CN", options.common_name);
}

}  // namespace

Result<KeyPair> MakeCertificate(const CertificateOptions& options) {
  Key key = NewKey();
  Certificate cert(X509_new());
  if (!key || !cert) return OpenSslError("new certificate");
  Describe(cert.get(), options);
  X509_set_pubkey(cert.get(), key.get());

  Certificate issuer;
  Key issuer_key;
  if (options.issuer != nullptr) {
    issuer.reset(PEM_read_bio_X509(Reader(options.issuer->cert_pem).get(), nullptr, nullptr, nullptr));
    issuer_key.reset(PEM_read_bio_PrivateKey(Reader(options.issuer->key_pem).get(), nullptr, nullptr, nullptr));
    if (!issuer || !issuer_key) return OpenSslError("issuer");
  }
  X509* signer = issuer ? issuer.get() : cert.get();
  X509_set_issuer_name(cert.get(), X509_get_subject_name(signer));
  AddExtension(cert.get(), signer, NID_basic_constraints, options.authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  AddExtension(cert.get(), signer, NID_key_usage,
               options.authority ? "critical,digitalSignature,keyCertSign" : "critical,digitalSignature");
  if (!options.authority) AddExtension(cert.get(), signer, NID_ext_key_usage, "serverAuth,clientAuth");
  if (!options.alt_names.empty()) {
    AddExtension(cert.get(), signer, NID_subject_alt_name, Join(options.alt_names, ","));
  }
  if (X509_sign(cert.get(), issuer_key ? issuer_key.get() : key.get(), EVP_sha256()) == 0) return OpenSslError("sign");
  return KeyPair{CertPem(cert.get()), KeyPem(key.get())};
}

Result<std::string> MakePrivateKey() {
  Key key = NewKey();
  if (!key) return OpenSslError("new key");
  Memory out(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey_traditional(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return Content(out.get());
}

}  // namespace capi::kube
