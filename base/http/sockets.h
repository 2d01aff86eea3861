// What the client and the server both need of the system's sockets and descriptors.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace capi::http {

// kUnavailable: a connection, or what came on it, can't be used further.
Error Broken(std::string message);
// The same, with the system's words for an errno: "read: Connection reset by peer".
Error Broken(std::string_view what, int error);

void SetOption(int fd, int level, int option, int value);

// Wakes a poll from another thread. Thread-safe, except that a move needs the object for itself.
class EventFd {
 public:
  // kUnavailable when the process has no descriptor left.
  static Result<EventFd> Create();
  EventFd(EventFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  EventFd& operator=(EventFd&&) = delete;
  ~EventFd();

  int fd() const { return fd_; }  // readable while it is set
  void Set() const;
  void Clear() const;

 private:
  explicit EventFd(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace capi::http
