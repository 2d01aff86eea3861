// The Unix socket on which the API server asks for Services: HTTP CONNECT, then the bytes of the connection
// (behaviour.md G6).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace capi::local {

// Each connection says "CONNECT host:port HTTP/1.1" and goes to one of the ports of loopback that `route` names for
// that, in turn; it is refused with 503 and the words of `route`'s error, or with 400 where it asks for something else.
// Thread-safe.
class ConnectSocket {
 public:
  using Route = std::function<Result<std::vector<int>>(const std::string& address)>;
  // Listens at `path`, for this user alone, in the place of what was there. kInvalidArgument for a path that is too
  // long; kInternal with the system's words; kUnavailable without a thread. More than `most` connections at a time are
  // refused with 503. A system that has no descriptors for more is waited for.
  static Result<std::unique_ptr<ConnectSocket>> Listen(const std::string& path, Route route, size_t most = 256);
  ~ConnectSocket();  // cuts all connections, and removes the socket

 private:
  class Impl;
  explicit ConnectSocket(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::local
