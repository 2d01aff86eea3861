#include "kube/testing/ports.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace capi::kube {

namespace {

// A socket with a free port, which is 0 where it got none.
int Bind(in_addr_t interface, int& port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(interface);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  bool bound = bind(fd, plain, size) == 0 && getsockname(fd, plain, &size) == 0;
  port = bound ? ntohs(address.sin_port) : 0;
  return fd;
}

}  // namespace

std::vector<int> FreePorts(size_t count) {
  std::vector<int> sockets, ports;
  for (size_t i = 0; i < count; ++i) {
    int port = 0;
    sockets.push_back(Bind(INADDR_ANY, port));
    if (port != 0) ports.push_back(port);
  }
  for (int fd : sockets) close(fd);
  return ports;
}

std::string OwnAddress() {
  const int pid = getpid();  // 22 bits at most
  return fmt::format("127.{}.{}.{}", 1 + (pid >> 16), (pid >> 8) & 255, pid & 255);
}

int ListenOnLoopback(int& port) {
  int fd = Bind(INADDR_LOOPBACK, port);
  if (port != 0 && listen(fd, 128) == 0) return fd;
  close(fd);
  return -1;
}

void ResetWhenClosed(int fd) {
  linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

}  // namespace capi::kube
