// A TCP socket that listens, and the clients that come.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace capi::http {

// Thread-compatible; never blocks.
class Listener {
 public:
  // "host:port", ":port" for all interfaces; port 0 picks a free one. kUnavailable when the address is taken.
  static Result<Listener> Open(const std::string& address);
  ~Listener() { Close(); }
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;

  int fd() const { return fd_; }                           // -1 once closed
  const std::string& address() const { return address_; }  // with the port that it got
  // The next client's descriptor, which doesn't block, and which the caller closes; none while nobody waits.
  // kUnavailable when the process has no descriptor or memory left for it.
  Result<std::optional<int>> Accept();
  void Close();

 private:
  Listener(int fd, std::string address) : fd_(fd), address_(std::move(address)) {}
  int fd_;
  std::string address_;
};

}  // namespace capi::http
