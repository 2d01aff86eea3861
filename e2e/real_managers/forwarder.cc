#include "e2e/real_managers/forwarder.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "kube/testing/ports.h"

namespace capi::e2e {
namespace {

// A TCP socket that closes itself.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

int NewSocket() { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

bool Connect(const Socket& socket, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return connect(socket.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

bool SendAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    data += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

// One connection: the client's end and the target's.
struct Pair {
  explicit Pair(int fd) : client(fd), target(NewSocket()) {}
  Socket client, target;
  std::thread thread;

  // Until both have ended.
  void Pass() {
    std::array<pollfd, 2> ends{{{client.fd(), POLLIN, 0}, {target.fd(), POLLIN, 0}}};
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
      if (poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) break;
      for (size_t i = 0; i < ends.size(); ++i) {
        if (ends[i].fd < 0 || ends[i].revents == 0) continue;
        int to = i == 0 ? target.fd() : client.fd();
        if (!PassSome(ends[i].fd, to)) {
          shutdown(to, SHUT_WR);
          ends[i].fd = -1;  // poll leaves it out
        }
      }
    }
  }
  void Cut() {
    shutdown(client.fd(), SHUT_RDWR);
    shutdown(target.fd(), SHUT_RDWR);
  }

 private:
  static bool PassSome(int from, int to) {
    std::array<char, 64 * 1024> buffer;
    ssize_t size = recv(from, buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) return true;
    return size > 0 && SendAll(to, buffer.data(), static_cast<size_t>(size));
  }
};

}  // namespace

class Forwarder::Impl {
 public:
  Impl() : listening_(kube::ListenOnLoopback(port_)) {
    if (listening_.fd() < 0) std::abort();
    acceptor_ = std::thread([this] { Accept(); });
  }
  ~Impl() {
    shutdown(listening_.fd(), SHUT_RDWR);  // ends accept
    acceptor_.join();
    for (auto& pair : pairs_) pair.Cut();
    for (auto& pair : pairs_) pair.thread.join();
  }
  int port() const { return port_; }
  void SetTargets(std::vector<int> ports) {
    MutexLock lock(mu_);
    targets_ = std::move(ports);
  }

 private:
  void Accept() {
    while (true) {
      int fd = accept4(listening_.fd(), nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
      if (fd < 0) return;
      Pair& pair = pairs_.emplace_back(fd);
      int target = Next();
      if (target != 0 && Connect(pair.target, target)) {
        pair.thread = std::thread([&pair] { pair.Pass(); });
      } else {
        kube::ResetWhenClosed(pair.client.fd());
        pairs_.pop_back();
      }
    }
  }
  int Next() {
    MutexLock lock(mu_);
    return targets_.empty() ? 0 : targets_[turn_++ % targets_.size()];
  }

  int port_ = 0;
  Socket listening_;
  std::list<Pair> pairs_;  // of the accepting thread, and of the destructor after that
  std::thread acceptor_;
  Mutex mu_;
  std::vector<int> targets_ CAPI_GUARDED_BY(mu_);
  size_t turn_ CAPI_GUARDED_BY(mu_) = 0;
};

Forwarder::Forwarder() : impl_(std::make_unique<Impl>()) {}
Forwarder::~Forwarder() = default;
int Forwarder::port() const { return impl_->port(); }
void Forwarder::SetTargets(std::vector<int> ports) { impl_->SetTargets(std::move(ports)); }

}  // namespace capi::e2e
