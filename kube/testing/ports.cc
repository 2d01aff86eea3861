#include "kube/testing/ports.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace capi::kube {

std::vector<int> FreePorts(size_t count) {
  std::vector<int> sockets, ports;
  for (size_t i = 0; i < count; ++i) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    socklen_t size = sizeof address;
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    if (bind(fd, plain, size) == 0 && getsockname(fd, plain, &size) == 0) ports.push_back(ntohs(address.sin_port));
    sockets.push_back(fd);
  }
  for (int fd : sockets) close(fd);
  return ports;
}

}  // namespace capi::kube
