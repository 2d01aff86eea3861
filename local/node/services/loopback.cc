#include "local/node/services/loopback.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/http/connection.h"

namespace capi::local {
namespace {

Error Refused(int port, int number) {
  return {Code::kUnavailable, fmt::format("port {}: {}", port, std::strerror(number)), {}};
}

}  // namespace

Fd::~Fd() {
  if (fd_ >= 0) close(fd_);
}

Result<Fd> ConnectLoopback(const Context& ctx, int port) {
  Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return Refused(port, errno);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    if (errno != EINPROGRESS) return Refused(port, errno);
    http::Waiter waiter(ctx);
    TRY_WITH(waiter.Wait(fd.get(), POLLOUT), fmt::format("port {}", port));
    int number = 0;
    socklen_t size = sizeof number;
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &number, &size);
    if (number != 0) return Refused(port, number);
  }
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  return fd;
}

}  // namespace capi::local
