// Connections to processes of this machine, which may hang (behaviour.md G6, G7).
#pragma once

#include <utility>

#include "base/context.h"

namespace capi::local {

// A descriptor that closes itself; -1 for none. Thread-compatible.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd();
  int get() const { return fd_; }

 private:
  int fd_;
};

// A connection to `port` of 127.0.0.1, whose reads and writes block. kUnavailable with the system's words;
// kDeadlineExceeded and kCancelled as `ctx` says: a process that takes no connections lets the kernel try for minutes.
Result<Fd> ConnectLoopback(const Context& ctx, int port);

}  // namespace capi::local
