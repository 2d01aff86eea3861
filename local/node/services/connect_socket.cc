#include "local/node/services/connect_socket.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/strings.h"

namespace capi::local {
namespace {

constexpr size_t kLongestHead = 8192;
constexpr timeval kHeadTime{10, 0};

// A descriptor that closes itself.
class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

bool SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool ConnectTo(int fd, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

// One connection of the API server's, and that to a process.
class Connection {
 public:
  explicit Connection(int fd) : client_(fd), target_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Connection() {
    Cut();
    if (thread_.joinable()) thread_.join();
  }
  void Start(const ConnectSocket::Route& route, std::atomic<size_t>& turn) {
    thread_ = std::thread([this, &route, &turn] {
      std::string rest;
      if (Open(route, turn, rest) && SendAll(target_.get(), rest)) Pass();
      Cut();  // the descriptors stay until the thread has been joined
      ended_ = true;
    });
  }
  void Cut() {
    shutdown(client_.get(), SHUT_RDWR);
    shutdown(target_.get(), SHUT_RDWR);
  }
  bool ended() const { return ended_; }

 private:
  // The head of the request, without the empty line; what came behind it is `rest`. "" where none came.
  std::string ReadHead(std::string& rest) {
    setsockopt(client_.get(), SOL_SOCKET, SO_RCVTIMEO, &kHeadTime, sizeof kHeadTime);
    std::string text;
    std::array<char, 1024> buffer;
    while (text.size() < kLongestHead) {
      ssize_t size = recv(client_.get(), buffer.data(), buffer.size(), 0);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return "";
      text.append(buffer.data(), static_cast<size_t>(size));
      size_t end = text.find("\r\n\r\n");
      if (end == text.npos) continue;
      rest = text.substr(end + 4);
      return text.substr(0, end);
    }
    return "";
  }

  bool Open(const ConnectSocket::Route& route, std::atomic<size_t>& turn, std::string& rest) {
    std::string head = ReadHead(rest);
    std::vector<std::string> words = Split(head.substr(0, head.find("\r\n")), ' ');
    if (words.size() != 3 || words[0] != "CONNECT") return Refuse("400 this socket takes CONNECT alone");
    auto ports = route(words[1]);
    if (!ports.ok()) return Refuse("503 " + ports.error().message);
    size_t first = turn++;
    for (size_t i = 0; i < ports->size(); ++i) {
      if (ConnectTo(target_.get(), (*ports)[(first + i) % ports->size()])) {
        return SendAll(client_.get(), "HTTP/1.1 200 Connection established\r\n\r\n");
      }
    }
    return Refuse(fmt::format("503 no process of {} takes connections", words[1]));
  }
  // The API server tells the words of the status line alone.
  bool Refuse(const std::string& status) {
    SendAll(client_.get(), fmt::format("HTTP/1.1 {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status));
    return false;
  }

  // Until both ends have ended.
  void Pass() {
    std::array<pollfd, 2> ends{{{client_.get(), POLLIN, 0}, {target_.get(), POLLIN, 0}}};
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
      if (poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) return;
      for (size_t i = 0; i < ends.size(); ++i) {
        if (ends[i].fd < 0 || ends[i].revents == 0) continue;
        int to = i == 0 ? target_.get() : client_.get();
        if (PassSome(ends[i].fd, to)) continue;
        shutdown(to, SHUT_WR);
        ends[i].fd = -1;  // poll leaves it out
      }
    }
  }
  static bool PassSome(int from, int to) {
    std::array<char, 64 * 1024> buffer;
    ssize_t size = recv(from, buffer.data(), buffer.size(), 0);
    if (size < 0) return errno == EINTR || errno == EAGAIN;
    return size > 0 && SendAll(to, std::string_view(buffer.data(), static_cast<size_t>(size)));
  }

  const Fd client_, target_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

Error SystemError(const std::string& path, const char* what) {
  return {Code::kInternal, fmt::format("{}: {}: {}", path, what, std::strerror(errno)), {}};
}

}  // namespace

class ConnectSocket::Impl {
 public:
  Impl(std::string path, Route route) : path_(std::move(path)), route_(std::move(route)) {}
  ~Impl() {
    if (acceptor_.joinable()) {
      shutdown(listening_.get(), SHUT_RDWR);  // ends accept
      acceptor_.join();
      unlink(path_.c_str());
    }
    for (Connection& one : connections_) one.Cut();
  }

  Status Start() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path_.size() >= sizeof address.sun_path) {
      return Error{Code::kInvalidArgument,
                   fmt::format("{}: a socket's path has {} bytes at most", path_, sizeof address.sun_path - 1),
                   {}};
    }
    path_.copy(address.sun_path, path_.size());
    unlink(path_.c_str());
    if (listening_.get() < 0) return SystemError(path_, "socket");
    fchmod(listening_.get(), 0600);  // before bind: the file is never anybody else's
    if (bind(listening_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      return SystemError(path_, "bind");
    }
    if (chmod(path_.c_str(), 0600) != 0 || listen(listening_.get(), 128) != 0) return SystemError(path_, "listen");
    acceptor_ = std::thread([this] { Accept(); });
    return Ok();
  }

 private:
  void Accept() {
    while (true) {
      int fd = accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
      if (fd < 0) return;
      connections_.remove_if([](const Connection& one) { return one.ended(); });
      connections_.emplace_back(fd).Start(route_, turn_);
    }
  }

  const std::string path_;
  const Route route_;
  const Fd listening_{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::atomic<size_t> turn_{0};
  std::list<Connection> connections_;  // of the accepting thread, and of the destructor after that
  std::thread acceptor_;
};

Result<std::unique_ptr<ConnectSocket>> ConnectSocket::Listen(const std::string& path, Route route) {
  auto impl = std::make_unique<Impl>(path, std::move(route));
  TRY(impl->Start());
  return std::unique_ptr<ConnectSocket>(new ConnectSocket(std::move(impl)));
}

ConnectSocket::ConnectSocket(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ConnectSocket::~ConnectSocket() = default;

}  // namespace capi::local
