#include "base/http/server/listener.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/http/sockets.h"
#include "base/http/url.h"

namespace capi::http {
namespace {

struct Place {
  std::string host;
  int port = 0;
};

Result<Place> ParseAddress(const std::string& address) {
  size_t colon = address.rfind(':');
  std::string port = colon == address.npos ? "" : address.substr(colon + 1);
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != port.npos || std::stoi(port) > 65535)
    return Error{Code::kInvalidArgument, fmt::format("address \"{}\" is not host:port", address), {}};
  std::string host = address.substr(0, colon);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return Place{host, std::stoi(port)};
}

// Its descriptor, or -1 with errno. Several processes may not share the port.
int Bind(const addrinfo& at) {
  int fd = socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  SetOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (at.ai_family == AF_INET6) SetOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (bind(fd, at.ai_addr, at.ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0) return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

// The first address of the host that can be bound; IPv4 first where a name has both, as Go does.
Result<int> BindHost(const std::string& host, int port) {
  addrinfo hints = {};
  hints.ai_flags = AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0)
    return Broken(gai_strerror(error));
  int fd = -1, error = 0;
  for (bool ipv4 : {true, false}) {
    for (addrinfo* at = found; fd < 0 && at != nullptr; at = at->ai_next) {
      if ((at->ai_family == AF_INET) == ipv4) fd = Bind(*at);
      if (fd < 0) error = errno;
    }
  }
  freeaddrinfo(found);
  if (fd < 0) return Broken(strerrordesc_np(error));
  return fd;
}

int PortOf(int fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  in_port_t port = address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                                 : reinterpret_cast<sockaddr_in*>(&address)->sin_port;
  return ntohs(port);
}

}  // namespace

Result<Listener> Listener::Open(const std::string& address) {
  Place place = TRY(ParseAddress(address));
  std::vector<std::string> hosts = {place.host};
  if (place.host.empty()) hosts = {"::", "0.0.0.0"};  // the first takes IPv4 too, where there is IPv6
  Error last;
  for (const std::string& host : hosts) {
    auto fd = BindHost(host, place.port);
    if (fd.ok()) return Listener(*fd, Url{"http", "", host, PortOf(*fd), ""}.HostPort());
    last = fd.error();
  }
  return last.With(fmt::format("listen on {}", address));
}

Listener::Listener(Listener&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), address_(std::move(other.address_)) {}

void Listener::Close() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

Result<std::optional<int>> Listener::Accept() {
  int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    int error = errno;
    bool full = error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
    // The system says so first, whether or not somebody waits.
    pollfd waits = {fd_, POLLIN, 0};
    if (full && poll(&waits, 1, 0) != 0) return Broken("accept", error);
    return std::optional<int>();  // nobody, or one that is gone already
  }
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  return std::optional<int>(fd);
}

}  // namespace capi::http
