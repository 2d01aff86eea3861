#include "base/http/sockets.h"

#include <fmt/core.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace capi::http {

Error Broken(std::string message) { return Error{Code::kUnavailable, std::move(message), {}}; }

Error Broken(std::string_view what, int error) { return Broken(fmt::format("{}: {}", what, strerrordesc_np(error))); }

void SetOption(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof value); }

Result<EventFd> EventFd::Create() {
  int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return Broken("eventfd", errno);
  return EventFd(fd);
}

EventFd::~EventFd() {
  if (fd_ >= 0) close(fd_);
}

void EventFd::Set() const { eventfd_write(fd_, 1); }

void EventFd::Clear() const {
  eventfd_t count = 0;
  eventfd_read(fd_, &count);
}

}  // namespace capi::http
