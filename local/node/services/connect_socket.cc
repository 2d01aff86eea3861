#include "local/node/services/connect_socket.h"

#include <fmt/core.h>
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
#include <stop_token>
#include <thread>
#include <utility>

#include "base/caught.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "local/node/services/loopback.h"

namespace capi::local {
namespace {

constexpr size_t kLongestHead = 8192;
constexpr timeval kHeadTime{10, 0};
constexpr Seconds kConnectTime{3};
constexpr int kLookAround = 1000, kRest = 100;  // milliseconds

bool SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// The API server tells the words of the status line alone.
std::string Refusal(const std::string& status) {
  return fmt::format("HTTP/1.1 {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status);
}

// One connection of the API server's, and that to a process.
class Connection {
 public:
  explicit Connection(Fd client) : client_(std::move(client)) {}
  ~Connection() {
    Cut();
    if (thread_.joinable()) thread_.join();
  }
  // False, and the client is refused, where there is no thread for it.
  bool Start(const ConnectSocket::Route& route, std::atomic<size_t>& turn) {
    auto thrown = Caught([&] {
      thread_ = std::thread([this, &route, &turn] {
        (void)Caught([&] {  // one connection ends by what it throws, and nothing else
          std::string rest;
          if (Open(route, turn, rest) && SendAll(target(), rest)) Pass();
        });
        Cut();  // the descriptors stay until the thread has been joined
        ended_ = true;
      });
    });
    return !thrown || Refuse("503 this machine has no thread for another connection");
  }
  void Cut() {
    stop_.request_stop();
    shutdown(client_.get(), SHUT_RDWR);
    if (int fd = target(); fd >= 0) shutdown(fd, SHUT_RDWR);
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
      Context ctx = Context{}.WithStop(stop_.get_token()).WithTimeout(kConnectTime);
      auto fd = ConnectLoopback(ctx, (*ports)[(first + i) % ports->size()]);
      if (!fd.ok()) continue;
      MutexLock lock(mu_);
      target_ = std::move(*fd);
      return SendAll(client_.get(), "HTTP/1.1 200 Connection established\r\n\r\n");
    }
    return Refuse(fmt::format("503 no process of {} takes connections", words[1]));
  }
  bool Refuse(const std::string& status) {
    SendAll(client_.get(), Refusal(status));
    return false;
  }
  // Set once, by the thread; -1 before.
  int target() const {
    MutexLock lock(mu_);
    return target_.get();
  }

  // Until both ends have ended.
  void Pass() {
    const int to_process = target();
    std::array<pollfd, 2> ends{{{client_.get(), POLLIN, 0}, {to_process, POLLIN, 0}}};
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
      if (poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) return;
      for (size_t i = 0; i < ends.size(); ++i) {
        if (ends[i].fd < 0 || ends[i].revents == 0) continue;
        int to = i == 0 ? to_process : client_.get();
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

  const Fd client_;
  mutable Mutex mu_;
  Fd target_ CAPI_GUARDED_BY(mu_);
  std::stop_source stop_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

Error SystemError(const std::string& path, const char* what) {
  return {Code::kInternal, fmt::format("{}: {}: {}", path, what, std::strerror(errno)), {}};
}

}  // namespace

class ConnectSocket::Impl {
 public:
  Impl(std::string path, Route route, size_t most) : path_(std::move(path)), route_(std::move(route)), most_(most) {}
  ~Impl() {
    if (acceptor_.joinable()) {
      ending_ = true;
      shutdown(listening_.get(), SHUT_RDWR);  // wakes poll
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
    auto thrown = Caught([&] { acceptor_ = std::thread([this] { Accept(); }); });
    if (thrown) return Error{Code::kUnavailable, fmt::format("{}: no thread for it: {}", path_, *thrown), {}};
    return Ok();
  }

 private:
  void Accept() {
    while (!ending_) {
      pollfd listening{listening_.get(), POLLIN, 0};
      poll(&listening, 1, connections_.empty() ? -1 : kLookAround);
      connections_.remove_if([](const Connection& one) { return one.ended(); });
      if (ending_ || listening.revents == 0) continue;
      Fd client(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (client.get() >= 0) {
        (void)Caught([&] { Take(std::move(client)); });  // what there is no memory for is closed
      } else if (errno != EINTR && errno != ECONNABORTED) {
        poll(nullptr, 0, kRest);  // no descriptors, say: others will be given back
      }
    }
  }

  void Take(Fd client) {
    if (connections_.size() >= most_) {
      std::string words = Refusal(fmt::format("503 {} connections to Services are open", most_));
      (void)send(client.get(), words.data(), words.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      return;
    }
    if (!connections_.emplace_back(std::move(client)).Start(route_, turn_)) connections_.pop_back();
  }

  const std::string path_;
  const Route route_;
  const size_t most_;
  std::atomic<bool> ending_{false};
  const Fd listening_{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::atomic<size_t> turn_{0};
  std::list<Connection> connections_;  // of the accepting thread, and of the destructor after that
  std::thread acceptor_;
};

Result<std::unique_ptr<ConnectSocket>> ConnectSocket::Listen(const std::string& path, Route route, size_t most) {
  auto impl = std::make_unique<Impl>(path, std::move(route), most);
  TRY(impl->Start());
  return std::unique_ptr<ConnectSocket>(new ConnectSocket(std::move(impl)));
}

ConnectSocket::ConnectSocket(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ConnectSocket::~ConnectSocket() = default;

}  // namespace capi::local
