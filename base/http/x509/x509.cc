#include "base/http/x509/x509.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

namespace capi::http {
namespace {

Result<std::string> TextOf(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  if (size <= 0) return CantMake();
  return std::string(data, static_cast<size_t>(size));
}

bool WriteKey(BIO* bio, EVP_PKEY* key, bool pkcs8) {
  if (pkcs8) return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr) == 1;
  return PEM_write_bio_PrivateKey_traditional(bio, key, nullptr, nullptr, 0, nullptr, nullptr) == 1;
}

}  // namespace

Error CantMake() { return {Code::kInternal, "OpenSSL can't make a certificate", {}}; }

Result<std::string> ToPem(X509* cert) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_X509(bio.get(), cert) != 1) return CantMake();
  return TextOf(bio.get());
}

Result<std::string> ToPem(EVP_PKEY* key, bool pkcs8) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  if (!bio || !WriteKey(bio.get(), key, pkcs8)) return CantMake();
  return TextOf(bio.get());
}

bool IsAddress(const std::string& host) {
  unsigned char parsed[16];
  return inet_pton(AF_INET, host.c_str(), parsed) == 1 || inet_pton(AF_INET6, host.c_str(), parsed) == 1;
}

std::string AltNames(const std::vector<std::string>& hosts) {
  std::string out;
  for (const auto& host : hosts) out += (out.empty() ? "" : ",") + std::string(IsAddress(host) ? "IP:" : "DNS:") + host;
  return out;
}

bool AddExtension(X509* cert, X509* issuer, const X509Extension& extension) {
  X509V3_CTX ctx;
  X509V3_set_ctx(&ctx, issuer, cert, nullptr, nullptr, 0);
  X509_EXTENSION* made = X509V3_EXT_conf_nid(nullptr, &ctx, extension.kind, extension.value.c_str());
  if (made == nullptr) return false;
  bool added = X509_add_ext(cert, made, -1) == 1;
  X509_EXTENSION_free(made);
  return added;
}

bool SetSerialAndTimes(X509* cert, const Validity& validity) {
  std::uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) return false;
  auto seconds = [](WallTime time) { return std::chrono::system_clock::to_time_t(time); };
  return X509_set_version(cert, X509_VERSION_3) == 1 &&
         ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), serial >> 1) == 1 &&
         ASN1_TIME_set(X509_getm_notBefore(cert), seconds(validity.not_before)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(cert), seconds(validity.not_after)) != nullptr;
}

Result<X509Ptr> FirstCertificate(std::string_view pem, std::string_view what) {
  auto all = TRY(ReadCertificates(pem, what));
  if (all.empty()) return Error{Code::kInvalidArgument, fmt::format("{}: no PEM certificate", what), {}};
  return std::move(all.front());
}

}  // namespace capi::http
