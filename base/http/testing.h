// For tests: servers that do exactly what a test says, byte by byte, and certificates made on the spot.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/http/client.h"

namespace capi::http_testing {

// The server's end of one TCP connection. Thread-compatible.
class Peer {
 public:
  explicit Peer(int fd) : fd_(fd) {}
  virtual ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // Up to and with the empty line that ends a request's head, and a body of its Content-Length. "" at the end.
  std::string ReadRequest();
  void Write(std::string_view bytes);
  void WaitForEnd();  // until the client closes
  void Reset();       // has it end with RST, once the server's function returns
  int fd() const { return fd_; }

 protected:
  virtual long Receive(char* into, size_t size);
  virtual long Send(const char* data, size_t size);

 private:
  const int fd_;  // open as long as the peer is: a server breaks it from another thread
  std::string buffered_;
};

// A TLS connection on a Peer's socket, as the server. Thread-compatible.
class TlsPeer : public Peer {
 public:
  // `client_ca_pem`: a client certificate of that CA is required, when set.
  TlsPeer(Peer& peer, std::string_view cert_pem, std::string_view key_pem, std::string_view client_ca_pem = "");
  ~TlsPeer() override;
  bool ok() const { return ok_; }            // the handshake succeeded
  std::string ClientCommonName() const;      // of the client's certificate, "" without one
  std::string ServerNameIndication() const;  // "" without one
  void Abandon() { ok_ = false; }            // no close_notify at the end

 protected:
  long Receive(char* into, size_t size) override;
  long Send(const char* data, size_t size) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool ok_ = false;
};

// Listens on 127.0.0.1 and gives each connection to `serve`, one after the other unless `parallel`. Thread-safe.
class RawServer {
 public:
  // `index`: how many connections came before.
  using Serve = std::function<void(Peer& peer, int index)>;
  explicit RawServer(Serve serve, bool parallel = false);
  ~RawServer();  // breaks the connections that are still served
  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  void Accept(bool parallel);
  void Run(int fd, int index);
  struct State;
  std::unique_ptr<State> state_;
  Serve serve_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

struct CertificateOptions {
  std::string common_name = "test";
  std::string alt_names;   // OpenSSL's form: "IP:127.0.0.1,DNS:localhost"
  int days = 1;            // negative: expired
  bool authority = false;  // may issue others
};

struct Pem {
  std::string cert, key;
};

// Makes certificates. Thread-compatible.
class TestCa {
 public:
  explicit TestCa(std::string_view name = "test CA");
  TestCa(std::string_view name, const TestCa& issuer);  // an intermediate one
  const std::string& pem() const { return pem_.cert; }
  Pem Issue(const CertificateOptions& options) const;

 private:
  Pem pem_;
};

}  // namespace capi::http_testing
