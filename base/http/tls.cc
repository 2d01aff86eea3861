#include "base/http/tls.h"

#include <fmt/core.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/files.h"
#include "base/http/pem.h"

namespace capi::http {
namespace {

// When files that couldn't be used, and haven't changed, are read once more.
constexpr Millis kTryAgain = Seconds(10);

Status AddRoots(X509_STORE* store, std::string_view pem) {
  auto roots = TRY(ReadCertificates(pem, "CA certificate"));
  if (roots.empty()) return OpenSslError("CA certificate: no PEM certificate");
  for (const X509Ptr& root : roots)
    if (X509_STORE_add_cert(store, root.get()) != 1) return OpenSslError("CA certificate");
  return Ok();
}

// OpenSSL's default is a folder of hashed names, of which it reads what it needs. Slim images have only a bundle.
void AddSystemRoots(SSL_CTX* tls) {
  SSL_CTX_set_default_verify_paths(tls);
  const char* folder = std::getenv(X509_get_default_cert_dir_env());
  auto names = ListDir(folder != nullptr ? folder : X509_get_default_cert_dir());
  bool hashed =
      names.ok() && std::any_of(names->begin(), names->end(), [](auto& name) { return name.ends_with(".0"); });
  for (const char* bundle : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"})
    if (!hashed && SSL_CTX_load_verify_file(tls, bundle) == 1) break;
  ERR_clear_error();
}

Result<std::string> TextOrFile(const std::string& text, const std::string& file, std::string_view what) {
  if (!text.empty() || file.empty()) return text;
  return TRY_WITH(ReadFile(file, 16u << 20), what);
}

int BioWrite(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  auto fd = static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio)));
  ssize_t sent = send(fd, data, static_cast<size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int BioRead(BIO* bio, char* into, int size) {
  BIO_clear_retry_flags(bio);
  auto fd = static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio)));
  ssize_t got = recv(fd, into, static_cast<size_t>(size), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(got);
}

long BioControl(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* SocketMethod() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without SIGPIPE");
    BIO_meth_set_write(made, BioWrite);
    BIO_meth_set_read(made, BioRead);
    BIO_meth_set_ctrl(made, BioControl);
    return made;
  }();
  return method;
}

}  // namespace

BIO* NewSocketBio(int fd) {
  BIO* bio = BIO_new(SocketMethod());
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(fd)));
  BIO_set_init(bio, 1);
  return bio;
}

Error TlsError(std::string_view what, const SSL* ssl) {
  int system = errno;
  unsigned long code = ERR_peek_error();
  std::string reason = "connection closed";
  if (code != 0) {
    const char* text = ERR_reason_error_string(code);
    reason = text != nullptr ? text : fmt::format("OpenSSL error {:#x}", code);
    long verified = ssl != nullptr ? SSL_get_verify_result(ssl) : X509_V_OK;
    if (verified != X509_V_OK) reason += fmt::format(": {}", X509_verify_cert_error_string(verified));
  } else if (system != 0) {
    reason = strerrordesc_np(system);
  }
  ERR_clear_error();
  return Error{Code::kUnavailable, fmt::format("{}: {}", what, reason), {}};
}

Status UseCertificate(SSL_CTX* tls, std::string_view cert_pem, std::string_view key_pem) {
  auto chain = TRY(ReadCertificates(cert_pem, "certificate"));
  if (chain.empty()) return OpenSslError("certificate: no PEM certificate");
  if (SSL_CTX_use_certificate(tls, chain[0].get()) != 1) return OpenSslError("certificate");
  SSL_CTX_clear_chain_certs(tls);
  for (size_t i = 1; i < chain.size(); ++i)
    if (SSL_CTX_add1_chain_cert(tls, chain[i].get()) != 1) return OpenSslError("certificate chain");
  KeyPtr key = TRY(ReadPrivateKey(key_pem, "private key"));
  if (SSL_CTX_use_PrivateKey(tls, key.get()) != 1 || SSL_CTX_check_private_key(tls) != 1)
    return OpenSslError("private key doesn't fit the certificate");
  return Ok();
}

Result<TlsContext> NewClientTls(const TlsOptions& options) {
  TlsContext tls(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (!tls) return OpenSslError("TLS");
  SSL_CTX_set_min_proto_version(tls.get(), TLS1_2_VERSION);
  SSL_CTX_set_session_cache_mode(tls.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(tls.get(),
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  constexpr unsigned char kHttp11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  SSL_CTX_set_alpn_protos(tls.get(), kHttp11, sizeof kHttp11);
  SSL_CTX_set_verify(tls.get(), options.insecure_skip_verify ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);

  // Whatever is in the store is trusted, as by Go and curl: OpenSSL by itself wants a chain up to a self-signed root.
  X509_STORE_set_flags(SSL_CTX_get_cert_store(tls.get()), X509_V_FLAG_PARTIAL_CHAIN);
  std::string ca = TRY(TextOrFile(options.ca_pem, options.ca_file, "CA certificate"));
  if (!ca.empty()) {
    TRY(AddRoots(SSL_CTX_get_cert_store(tls.get()), ca));
  } else if (!options.ca_file.empty()) {
    return OpenSslError("CA certificate: empty file");
  } else if (!options.insecure_skip_verify) {
    AddSystemRoots(tls.get());
  }
  std::string cert = TRY(TextOrFile(options.cert_pem, options.cert_file, "client certificate"));
  std::string key = TRY(TextOrFile(options.key_pem, options.key_file, "client key"));
  if (cert.empty() != key.empty()) return OpenSslError("client certificate and key: one is missing");
  if (!cert.empty()) TRY_WITH(UseCertificate(tls.get(), cert, key), "client");
  return tls;
}

TlsFiles::TlsFiles(const TlsOptions& options) {
  if (options.ca_pem.empty()) paths_.push_back(options.ca_file);
  if (options.cert_pem.empty()) paths_.push_back(options.cert_file);
  if (options.key_pem.empty()) paths_.push_back(options.key_file);
  std::erase(paths_, "");
  stamp_ = Stamp();
}

std::string TlsFiles::Stamp() const {
  std::string stamp;
  for (const std::string& path : paths_) {
    struct stat info = {};
    stat(path.c_str(), &info);  // a missing file is a change too
    stamp += fmt::format("{}.{}.{}.{} ", info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size, info.st_ino);
  }
  return stamp;
}

bool TlsFiles::Changed(MonoTime now) {
  if (paths_.empty()) return false;
  std::string stamp = Stamp();
  bool changed = stamp != stamp_, due = again_ && *again_ <= now;
  if (!changed && !due) return false;
  if (changed) known_unusable_ = false;
  stamp_ = std::move(stamp);
  again_.reset();
  return true;
}

bool TlsFiles::Unusable(MonoTime now) {
  again_ = now + kTryAgain;
  return !std::exchange(known_unusable_, true);
}

}  // namespace capi::http
