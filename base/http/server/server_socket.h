// An accepted socket, plain or with TLS on it, that never blocks.
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/http/tls.h"
#include "base/result.h"

namespace capi::http {

// For connections that are accepted: TLS 1.2 and up. kInvalidArgument for PEM that can't be used.
Result<TlsContext> NewServerTls(const std::string& cert_pem, const std::string& key_pem);

// Thread-compatible.
class ServerSocket {
 public:
  // What came of a call: it did something; the socket has to become readable or writable first; the peer ended, or the
  // connection broke.
  enum class Io { kDone, kWantsRead, kWantsWrite, kEnded };

  ServerSocket(int fd, SSL_CTX* tls);  // owns `fd`; `tls` may be null
  ~ServerSocket();
  ServerSocket(const ServerSocket&) = delete;
  ServerSocket& operator=(const ServerSocket&) = delete;

  int fd() const { return fd_; }
  bool tls() const { return ssl_ != nullptr; }
  Io Handshake();
  Io Read(char* into, size_t size, size_t& got);
  Io Write(std::string_view bytes, size_t& sent);
  // No more will be written. What the peer has sent already is to be thrown away by Skip before the socket is closed:
  // closing over unread bytes resets the connection, and the peer may lose what was written last.
  void EndWriting();
  Io Skip(size_t& skipped);

 private:
  Io TlsResult(int result);

  const int fd_;
  SSL* ssl_ = nullptr;
  bool broken_ = false;
};

}  // namespace capi::http
