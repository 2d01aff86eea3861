#include "kube/testing/tls.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace capi::kube {
namespace {

struct Freer {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* cert) const { X509_free(cert); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};

Error Unavailable(std::string_view what) {
  unsigned long number = ERR_get_error();
  char text[256] = "connection closed";
  if (number != 0) ERR_error_string_n(number, text, sizeof text);
  ERR_clear_error();
  return {Code::kUnavailable, fmt::format("{}: {}", what, text), {}};
}

std::unique_ptr<BIO, Freer> Reader(const std::string& text) {
  return std::unique_ptr<BIO, Freer>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Status UseKeyPair(SSL_CTX* context, const KeyPair& pair) {
  std::unique_ptr<X509, Freer> cert(PEM_read_bio_X509(Reader(pair.cert_pem).get(), nullptr, nullptr, nullptr));
  std::unique_ptr<EVP_PKEY, Freer> key(PEM_read_bio_PrivateKey(Reader(pair.key_pem).get(), nullptr, nullptr, nullptr));
  if (!cert || !key || SSL_CTX_use_certificate(context, cert.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return Unavailable("certificate");
  }
  return Ok();
}

Status TrustOnly(SSL_CTX* context, const std::string& ca_pem) {
  auto reader = Reader(ca_pem);
  std::unique_ptr<X509, Freer> ca(PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr));
  if (!ca || X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ca.get()) != 1) return Unavailable("CA");
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  return Ok();
}

int ConnectLoopback(int port, Millis timeout) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  timeval wait{.tv_sec = static_cast<time_t>(timeout.count() / 1000),
               .tv_usec = static_cast<suseconds_t>(timeout.count() % 1000 * 1000)};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);  // holds for connect, too
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

struct TlsStream::State {
  int fd = -1;
  std::unique_ptr<SSL_CTX, Freer> context;
  std::unique_ptr<SSL, Freer> ssl;
  ~State() {
    ssl.reset();
    if (fd >= 0) close(fd);
  }
  void Wrap() {
    // OpenSSL writes with write(2), and a peer that has gone must be an error, not a signal.
    [[maybe_unused]] static const auto before = std::signal(SIGPIPE, SIG_IGN);
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ssl.reset(SSL_new(context.get()));
    SSL_set_fd(ssl.get(), fd);
  }
};

TlsStream::TlsStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsStream::~TlsStream() = default;

Result<std::unique_ptr<TlsStream>> TlsStream::Connect(const std::string& host, int port, const std::string& ca_pem,
                                                      const KeyPair* client, Millis timeout) {
  auto state = std::make_unique<State>();
  state->fd = ConnectLoopback(port, timeout);
  if (state->fd < 0) return Error{Code::kUnavailable, fmt::format("port {}: {}", port, std::strerror(errno)), {}};
  state->context.reset(SSL_CTX_new(TLS_client_method()));
  TRY(TrustOnly(state->context.get(), ca_pem));
  if (client != nullptr) TRY(UseKeyPair(state->context.get(), *client));
  state->Wrap();
  X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(state->ssl.get()), host.c_str());
  if (SSL_connect(state->ssl.get()) != 1) return Unavailable("TLS handshake");
  return std::unique_ptr<TlsStream>(new TlsStream(std::move(state)));
}

Result<std::unique_ptr<TlsStream>> TlsStream::Accept(int fd, const KeyPair& server) {
  auto state = std::make_unique<State>();
  state->fd = fd;
  state->context.reset(SSL_CTX_new(TLS_server_method()));
  TRY(UseKeyPair(state->context.get(), server));
  state->Wrap();
  if (SSL_accept(state->ssl.get()) != 1) return Unavailable("TLS handshake");
  return std::unique_ptr<TlsStream>(new TlsStream(std::move(state)));
}

Result<size_t> TlsStream::Read(char* buffer, size_t size) {
  size_t got = 0;
  if (SSL_read_ex(state_->ssl.get(), buffer, size, &got) == 1) return got;
  if (SSL_get_error(state_->ssl.get(), 0) == SSL_ERROR_ZERO_RETURN) return size_t{0};
  return Unavailable("read");
}

Status TlsStream::Write(std::string_view bytes) {
  size_t done = 0;
  if (bytes.empty() || SSL_write_ex(state_->ssl.get(), bytes.data(), bytes.size(), &done) == 1) return Ok();
  return Unavailable("write");
}

bool TlsStream::pending() const { return SSL_pending(state_->ssl.get()) > 0; }
int TlsStream::fd() const { return state_->fd; }
void TlsStream::Cut() { shutdown(state_->fd, SHUT_RDWR); }

Result<PlainResponse> Ask(TlsStream& stream, std::string_view method, std::string_view target, std::string_view headers,
                          std::string_view body) {
  TRY(stream.Write(fmt::format("{} {} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {}\r\n{}\r\n{}", method, target,
                               body.size(), headers, body)));
  std::string text;
  char piece[16 * 1024];
  for (;;) {
    auto n = stream.Read(piece, sizeof piece);
    if (!n.ok() || *n == 0) break;  // the API server may close without TLS's own goodbye
    text.append(piece, *n);
  }
  size_t head = text.find("\r\n\r\n");
  if (head == std::string::npos || text.size() < 12) return Error{Code::kUnavailable, "no answer", {}};
  return PlainResponse{std::atoi(text.c_str() + 9), text.substr(head + 4)};
}

}  // namespace capi::kube
