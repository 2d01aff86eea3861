// One connection: a TCP socket, with TLS on it or not. Every wait ends when the call's context says so.
#pragma once

#include <openssl/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/http/resolver.h"
#include "base/result.h"

namespace capi::http {

// Waits for sockets on behalf of one call. A stop request wakes it through an eventfd. Thread-compatible.
class Waiter {
 public:
  explicit Waiter(const Context& ctx);
  ~Waiter();
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Whether the call may go on: kCancelled and kDeadlineExceeded from the context, kUnavailable where the process has
  // no descriptor left to hear a stop request with.
  Status Check() const;
  // Until `fd` has one of `events` (poll's), or fails. Errors of Check; kUnavailable ("timed out") after `limit`.
  Status Wait(int fd, short events, std::optional<MonoTime> limit = {});
  const Context& ctx() const { return ctx_; }

 private:
  class Waker;
  const Context& ctx_;
  std::unique_ptr<Waker> waker_;  // none when nobody can ask to stop
  Status deaf_;                   // why there is none although somebody can
};

// Thread-compatible.
class Connection {
 public:
  // TCP to host:port, each address in turn; all of it, the look-up too, until `limit`. kInvalidArgument where `refuses`
  // refuses one of the addresses.
  static Result<std::unique_ptr<Connection>> Dial(Waiter& waiter, const std::string& host, int port, MonoTime limit,
                                                  Resolver& resolver = Resolver::System(),
                                                  const std::function<bool(const std::string&)>& refuses = {});
  static Error Inward(const std::string& address);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Wraps the connection in TLS. `name` is what the certificate must be for, a host name or an IP address, and the SNI.
  Status StartTls(Waiter& waiter, SSL_CTX* tls, const std::string& name, MonoTime limit);

  // At least one byte, or 0 at the peer's orderly end. kUnavailable when the connection broke.
  Result<size_t> Read(Waiter& waiter, char* into, size_t size, std::optional<MonoTime> limit = {});
  Status Write(Waiter& waiter, std::string_view bytes, std::optional<MonoTime> limit = {});

  // For a library that speaks on it by itself, while this is open; of a connection without TLS.
  int fd() const { return fd_; }

  // How many bytes the system took so far, those of TLS itself among them.
  std::uint64_t written() const;

  // For an idle connection: the peer neither closed it nor sent anything.
  bool Alive();

 private:
  explicit Connection(int fd) : fd_(fd) {}
  Result<size_t> ReadTls(Waiter& waiter, char* into, size_t size, std::optional<MonoTime> limit);
  // What to wait for after an SSL call that didn't succeed; none when it failed for good.
  std::optional<short> TlsWants(int result) const;

  int fd_;
  SSL* ssl_ = nullptr;
  std::uint64_t sent_ = 0;  // without TLS
};

}  // namespace capi::http
