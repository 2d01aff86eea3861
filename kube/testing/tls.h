// Blocking TLS over TCP on loopback, for the fixtures: the fault proxy must see and break single connections.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "kube/testing/certificates.h"

namespace capi::kube {

// Thread-compatible, but for Cut.
class TlsStream {
 public:
  // `client` may be null: no client certificate. The server must prove `ca_pem`.
  static Result<std::unique_ptr<TlsStream>> Connect(const std::string& host, int port, const std::string& ca_pem,
                                                    const KeyPair* client, Millis timeout);
  // The server's side of an accepted connection, which it owns from now on.
  static Result<std::unique_ptr<TlsStream>> Accept(int fd, const KeyPair& server);
  ~TlsStream();

  Result<size_t> Read(char* buffer, size_t size);  // 0: the other side has ended the stream
  Status Write(std::string_view bytes);
  bool pending() const;  // bytes are decrypted already: Read doesn't block
  int fd() const;
  void Cut();  // from any thread: reads and writes fail from now on

 private:
  struct State;
  explicit TlsStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// One request on a connection of its own.
struct PlainResponse {
  int status = 0;
  std::string body;
};
Result<PlainResponse> Ask(TlsStream& stream, std::string_view method, std::string_view target, std::string_view headers,
                          std::string_view body = "");

}  // namespace capi::kube
