#include "base/http/testing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <set>

#include "base/http/tls.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace capi::http_testing {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

std::string Text(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

std::string ToPem(X509* certificate) {
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  return Text(bio);
}

std::string ToPem(EVP_PKEY* key) {
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  return Text(bio);
}

X509* CertificateOf(const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return certificate;
}

EVP_PKEY* KeyOf(const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return key;
}

void AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  Require(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// `issuer` null: self-signed, a CA.
Pem Make(const CertificateOptions& options, const Pem* issuer) {
  static std::atomic<long> serial = 1;
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate), options.days < 0 ? -1'000'000L : -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), options.days * 86'400L);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(options.common_name.c_str()), -1, -1, 0);
  X509_set_pubkey(certificate, key);
  X509* signer = issuer != nullptr ? CertificateOf(issuer->cert) : certificate;
  EVP_PKEY* signing_key = issuer != nullptr ? KeyOf(issuer->key) : key;
  X509_set_issuer_name(certificate, X509_get_subject_name(signer));
  bool authority = issuer == nullptr || options.authority;
  AddExtension(certificate, signer, NID_basic_constraints, authority ? "critical,CA:TRUE" : "CA:FALSE");
  if (!options.alt_names.empty()) AddExtension(certificate, signer, NID_subject_alt_name, options.alt_names);
  Require(X509_sign(certificate, signing_key, EVP_sha256()) > 0);
  Pem pem{ToPem(certificate), ToPem(key)};
  if (issuer != nullptr) {
    X509_free(signer);
    EVP_PKEY_free(signing_key);
  }
  X509_free(certificate);
  EVP_PKEY_free(key);
  return pem;
}

}  // namespace

Peer::~Peer() {
  if (fd_ >= 0) close(fd_);  // a TlsPeer's stays the plain peer's
}

long Peer::Receive(char* into, size_t size) { return recv(fd_, into, size, 0); }
long Peer::Send(const char* data, size_t size) { return send(fd_, data, size, MSG_NOSIGNAL); }

std::string Peer::ReadRequest() {
  size_t wanted = std::string::npos;
  while (buffered_.size() < wanted) {
    size_t end = buffered_.find("\r\n\r\n");
    if (wanted == std::string::npos && end != std::string::npos) {
      size_t length = ToLower(buffered_).find("content-length: ");
      wanted = end + 4;
      if (length < end) wanted += std::strtoul(buffered_.c_str() + length + 16, nullptr, 10);
      continue;
    }
    char piece[4096];
    long got = Receive(piece, sizeof piece);
    if (got <= 0) return "";
    buffered_.append(piece, static_cast<size_t>(got));
  }
  std::string request = buffered_.substr(0, wanted);
  buffered_.erase(0, wanted);
  return request;
}

void Peer::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    long sent = Send(bytes.data(), bytes.size());
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

void Peer::WaitForEnd() {
  char piece[4096];
  while (Receive(piece, sizeof piece) > 0) {
  }
}

void Peer::Reset() {
  linger now = {1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

struct TlsPeer::State {
  SSL_CTX* tls = SSL_CTX_new(TLS_server_method());
  SSL* ssl = nullptr;
};

// The descriptor stays the plain peer's.
TlsPeer::TlsPeer(Peer& peer, std::string_view cert_pem, std::string_view key_pem, std::string_view client_ca_pem)
    : Peer(-1), state_(std::make_unique<State>()) {
  Require(http::UseCertificate(state_->tls, cert_pem, key_pem).ok());
  if (!client_ca_pem.empty()) {
    X509* ca = CertificateOf(std::string(client_ca_pem));
    X509_STORE_add_cert(SSL_CTX_get_cert_store(state_->tls), ca);
    X509_free(ca);
    SSL_CTX_set_verify(state_->tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  state_->ssl = SSL_new(state_->tls);
  BIO* bio = http::NewSocketBio(peer.fd());
  SSL_set_bio(state_->ssl, bio, bio);
  ok_ = SSL_accept(state_->ssl) == 1;
  ERR_clear_error();
}

TlsPeer::~TlsPeer() {
  if (ok_) SSL_shutdown(state_->ssl);
  SSL_free(state_->ssl);
  SSL_CTX_free(state_->tls);
  ERR_clear_error();
}

long TlsPeer::Receive(char* into, size_t size) { return SSL_read(state_->ssl, into, static_cast<int>(size)); }
long TlsPeer::Send(const char* data, size_t size) { return SSL_write(state_->ssl, data, static_cast<int>(size)); }

std::string TlsPeer::ClientCommonName() const {
  X509* certificate = SSL_get0_peer_certificate(state_->ssl);
  if (certificate == nullptr) return "";
  char name[256] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
  return name;
}

std::string TlsPeer::ServerNameIndication() const {
  const char* name = SSL_get_servername(state_->ssl, TLSEXT_NAMETYPE_host_name);
  return name == nullptr ? "" : name;
}

struct RawServer::State {
  Mutex mu;
  bool stopping CAPI_GUARDED_BY(mu) = false;
  std::set<Peer*> peers CAPI_GUARDED_BY(mu);
  std::vector<std::thread> threads;  // of the accepting thread
};

RawServer::RawServer(Serve serve, bool parallel) : state_(std::make_unique<State>()), serve_(std::move(serve)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  Require(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(listener_, 64) == 0);
  Require(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this, parallel] { Accept(parallel); });
}

void RawServer::Accept(bool parallel) {
  for (int index = 0;; ++index) {
    int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) break;
    if (parallel) {
      state_->threads.emplace_back([this, fd, index] { Run(fd, index); });
    } else {
      Run(fd, index);
    }
  }
  for (std::thread& thread : state_->threads) thread.join();
}

void RawServer::Run(int fd, int index) {
  Peer peer(fd);
  {
    MutexLock lock(state_->mu);
    if (state_->stopping) return;
    state_->peers.insert(&peer);
  }
  serve_(peer, index);
  MutexLock lock(state_->mu);
  state_->peers.erase(&peer);
}

RawServer::~RawServer() {
  {
    MutexLock lock(state_->mu);
    state_->stopping = true;
    for (Peer* peer : state_->peers) shutdown(peer->fd(), SHUT_RDWR);
  }
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  close(listener_);
}

TestCa::TestCa(std::string_view name)
    : pem_(Make({.common_name = std::string(name), .alt_names = "", .days = 1}, nullptr)) {}

TestCa::TestCa(std::string_view name, const TestCa& issuer)
    : pem_(issuer.Issue({.common_name = std::string(name), .authority = true})) {}

Pem TestCa::Issue(const CertificateOptions& options) const { return Make(options, &pem_); }

}  // namespace capi::http_testing
