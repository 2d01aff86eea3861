#include "base/http/server/listener.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

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

void SetOption(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof value); }

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
    return Error{Code::kUnavailable, gai_strerror(error), {}};
  int fd = -1, error = 0;
  for (bool ipv4 : {true, false}) {
    for (addrinfo* at = found; fd < 0 && at != nullptr; at = at->ai_next) {
      if ((at->ai_family == AF_INET) == ipv4) fd = Bind(*at);
      if (fd < 0) error = errno;
    }
  }
  freeaddrinfo(found);
  if (fd < 0) return Error{Code::kUnavailable, strerrordesc_np(error), {}};
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

Result<std::optional<Accepted>> Listener::Accept() {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  int fd = accept4(fd_, reinterpret_cast<sockaddr*>(&address), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    bool full = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    if (full) return Error{Code::kUnavailable, fmt::format("accept: {}", strerrordesc_np(errno)), {}};
    return std::optional<Accepted>();  // nobody, or one that is gone already
  }
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  char text[NI_MAXHOST] = "";
  getnameinfo(reinterpret_cast<sockaddr*>(&address), size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return std::optional<Accepted>(Accepted{fd, text});
}

}  // namespace capi::http
