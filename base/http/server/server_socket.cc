#include "base/http/server/server_socket.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace capi::http {
namespace {

// What recv or send said.
ServerSocket::Io Outcome(ssize_t result, ServerSocket::Io wants) {
  if (result > 0) return ServerSocket::Io::kDone;
  bool later = result < 0 && (errno == EAGAIN || errno == EINTR);
  return later ? wants : ServerSocket::Io::kEnded;
}

}  // namespace

Result<TlsContext> NewServerTls(const std::string& cert_pem, const std::string& key_pem) {
  TlsContext tls(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!tls) return Error{Code::kInternal, "TLS: no context", {}};
  SSL_CTX_set_min_proto_version(tls.get(), TLS1_2_VERSION);
  // Clients keep their connections, so nothing is gained by resuming sessions; renegotiation costs the server more than
  // the client.
  SSL_CTX_set_session_cache_mode(tls.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(tls.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(tls.get(), 0);
  SSL_CTX_set_mode(tls.get(),
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  TRY(UseCertificate(tls.get(), cert_pem, key_pem));
  return tls;
}

ServerSocket::ServerSocket(int fd, SSL_CTX* tls) : fd_(fd) {
  if (tls == nullptr) return;
  ssl_ = SSL_new(tls);
  broken_ = ssl_ == nullptr;
  if (broken_) return;
  BIO* bio = NewSocketBio(fd);
  SSL_set_bio(ssl_, bio, bio);
  SSL_set_accept_state(ssl_);
}

ServerSocket::~ServerSocket() {
  SSL_free(ssl_);
  close(fd_);
}

ServerSocket::Io ServerSocket::TlsResult(int result) {
  if (result > 0) return Io::kDone;
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ: return Io::kWantsRead;
    case SSL_ERROR_WANT_WRITE: return Io::kWantsWrite;
    default: break;
  }
  broken_ = true;
  ERR_clear_error();
  return Io::kEnded;
}

ServerSocket::Io ServerSocket::Handshake() {
  if (broken_) return Io::kEnded;
  if (ssl_ == nullptr) return Io::kDone;
  ERR_clear_error();
  return TlsResult(SSL_do_handshake(ssl_));
}

ServerSocket::Io ServerSocket::Read(char* into, size_t size, size_t& got) {
  if (broken_) return Io::kEnded;
  if (ssl_ != nullptr) {
    ERR_clear_error();
    int result = SSL_read(ssl_, into, static_cast<int>(std::min<size_t>(size, INT_MAX)));
    got = static_cast<size_t>(std::max(result, 0));
    return TlsResult(result);
  }
  ssize_t result = recv(fd_, into, size, 0);
  got = static_cast<size_t>(std::max<ssize_t>(result, 0));
  return Outcome(result, Io::kWantsRead);
}

ServerSocket::Io ServerSocket::Write(std::string_view bytes, size_t& sent) {
  if (broken_) return Io::kEnded;
  if (ssl_ != nullptr) {
    ERR_clear_error();
    int result = SSL_write(ssl_, bytes.data(), static_cast<int>(std::min<size_t>(bytes.size(), INT_MAX)));
    sent = static_cast<size_t>(std::max(result, 0));
    return TlsResult(result);
  }
  ssize_t result = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  sent = static_cast<size_t>(std::max<ssize_t>(result, 0));
  return Outcome(result, Io::kWantsWrite);
}

void ServerSocket::EndWriting() {
  if (ssl_ != nullptr && !broken_) {
    ERR_clear_error();
    SSL_shutdown(ssl_);
    ERR_clear_error();
  }
  shutdown(fd_, SHUT_WR);
}

ServerSocket::Io ServerSocket::Skip(size_t& skipped) {
  char away[16u << 10];
  ssize_t result = recv(fd_, away, sizeof away, 0);
  skipped = static_cast<size_t>(std::max<ssize_t>(result, 0));
  return Outcome(result, Io::kWantsRead);
}

}  // namespace capi::http
