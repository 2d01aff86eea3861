#include "base/processes/reserved_port.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace capi {
namespace {

// A socket that is bound to the port, and which one that is; -1 where it can't be had.
int Bind(int wanted, bool shared, int& number) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  if (shared) setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
  // Connections that have just ended keep no port; whoever listens does.
  if (!shared) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(wanted));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (fd >= 0 && bind(fd, plain, size) == 0 && getsockname(fd, plain, &size) == 0) {
    number = ntohs(address.sin_port);
    return fd;
  }
  if (fd >= 0) close(fd);
  return -1;
}

// Sharing would take a port from a process of the same user that shares it, too.
bool IsFree(int wanted) {
  int number = 0;
  int fd = Bind(wanted, false, number);
  // Two that only bind with SO_REUSEADDR are no conflict; one that listens is.
  const bool free = fd >= 0 && listen(fd, 1) == 0;
  if (fd >= 0) close(fd);
  return free;
}

}  // namespace

Result<ReservedPort> ReservedPort::Take(int wanted) {
  int number = 0, fd = -1;
  if (wanted != 0 && IsFree(wanted)) fd = Bind(wanted, true, number);
  if (fd < 0) fd = Bind(0, true, number);
  if (fd < 0) return Error{Code::kUnavailable, std::string("no free port: ") + std::strerror(errno), {}};
  return ReservedPort(fd, number);
}

ReservedPort::ReservedPort(ReservedPort&& other) noexcept : fd_(std::exchange(other.fd_, -1)), number_(other.number_) {}

ReservedPort& ReservedPort::operator=(ReservedPort&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(number_, other.number_);
  return *this;
}

ReservedPort::~ReservedPort() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace capi
