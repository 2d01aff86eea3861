#include "base/http/server/hostile_testing.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/clock.h"
#include "base/strings.h"

namespace capi::http_testing {
namespace {

constexpr timeval kPatience = {30, 0};
constexpr Millis kSlow = Seconds(1);    // from byte to byte
constexpr Millis kPause = Millis(200);  // until somebody who was sent away is back

sockaddr_in Parse(const std::string& address) {
  size_t colon = address.rfind(':');
  sockaddr_in parsed = {};
  parsed.sin_family = AF_INET;
  parsed.sin_port = htons(static_cast<std::uint16_t>(std::atoi(address.c_str() + colon + 1)));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &parsed.sin_addr);
  return parsed;
}

int Connect(const std::string& address, int flags) {
  sockaddr_in to = Parse(address);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
  if (fd < 0) return -1;
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 || errno == EINPROGRESS) return fd;
  close(fd);
  return -1;
}

constexpr std::string_view kGet = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

// What a kind of client sends first, and what it goes on with, byte by byte or as fast as it is taken.
struct Kind {
  std::string first, then;
  bool fast = false, reads = true;
};

const std::vector<Kind>& Kinds() {
  static const auto* const kinds = new std::vector<Kind>{
      {"", ""},
      {"GET /healthz HT", "T"},
      {"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ", std::string(4096, 'a'), true},
      {"POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;", std::string(4096, 'e'), true},
      {"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n", "b"},
      {std::string(kGet), std::string(kGet), true, false},
      {std::string(kGet), std::string(kGet), true},
  };
  return *kinds;
}

}  // namespace

RawClient::RawClient(const std::string& address) : fd_(Connect(address, 0)) {
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
}

RawClient::~RawClient() {
  if (fd_ >= 0) close(fd_);
}

bool RawClient::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

void RawClient::EndWriting() { shutdown(fd_, SHUT_WR); }

bool RawClient::Receive() {
  char piece[4096];
  ssize_t got = recv(fd_, piece, sizeof piece, 0);
  timed_out_ = got < 0 && errno == EAGAIN;
  if (got > 0) buffered_.append(piece, static_cast<size_t>(got));
  return got > 0;
}

std::string RawClient::ReadAnswer() {
  size_t end = std::string::npos;
  while ((end = buffered_.find("\r\n\r\n")) == std::string::npos) {
    if (!Receive()) return timed_out_ ? "timed out" : "";
  }
  size_t size = end + 4, length = ToLower(buffered_).find("content-length: ");
  if (length < end) size += std::strtoul(buffered_.c_str() + length + 16, nullptr, 10);
  while (buffered_.size() < size) {
    if (!Receive()) return timed_out_ ? "timed out" : "";
  }
  std::string answer = buffered_.substr(0, size);
  buffered_.erase(0, size);
  return answer;
}

std::string RawClient::ReadToEnd() {
  while (Receive()) {
  }
  return timed_out_ ? "timed out" : std::exchange(buffered_, {});
}

struct HostileClients::One {
  const Kind* kind;
  int fd = -1;
  bool greeted = false;
  size_t sent = 0;                  // of what it sends
  MonoTime next = MonoTime::min();  // when it connects, or sends its next byte

  void Leave(MonoTime back) {
    close(fd);
    fd = -1;
    next = back;
  }

  bool Writes(MonoTime now) const {
    if (!greeted) return !kind->first.empty();
    return !kind->then.empty() && (kind->fast || now >= next);
  }

  // False when the server has closed.
  bool Write(MonoTime now) {
    const std::string& bytes = greeted ? kind->then : kind->first;
    ssize_t took = send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    next = now + kSlow;
    if (took < 0) return errno == EAGAIN;
    sent += static_cast<size_t>(took);
    if (sent < bytes.size()) return true;
    sent = 0;
    greeted = true;
    return true;
  }

  bool Read() const {
    char away[4096];
    ssize_t got = recv(fd, away, sizeof away, 0);
    return got > 0 || (got < 0 && errno == EAGAIN);
  }
};

HostileClients::HostileClients(const std::string& address, size_t count)
    : thread_([=, this] { Run(address, count); }) {}

HostileClients::~HostileClients() {
  stop_ = true;
  connections_.notify_all();
  thread_.join();
}

void HostileClients::AwaitConnections(size_t count) const {
  for (size_t made = connections_; made < count; made = connections_) connections_.wait(made);
}

void HostileClients::Run(const std::string& address, size_t count) {
  std::vector<One> clients;
  for (size_t i = 0; i < count; ++i) clients.push_back({&Kinds()[i % Kinds().size()]});
  std::vector<pollfd> polled(count);
  while (!stop_) {
    MonoTime now = SystemClock().Monotonic();
    for (size_t i = 0; i < count; ++i) {
      One& one = clients[i];
      if (one.fd < 0 && now >= one.next) {
        one.fd = Connect(address, SOCK_NONBLOCK);
        one.greeted = false;
        one.sent = 0;
        if (one.fd < 0) one.next = now + kPause;
        connections_ += one.fd >= 0;
      }
      int events = (one.kind->reads ? POLLIN : 0) | (one.Writes(now) ? POLLOUT : 0);
      polled[i] = {one.fd, static_cast<short>(events), 0};
    }
    connections_.notify_all();
    poll(polled.data(), polled.size(), 10);
    for (size_t i = 0; i < count; ++i) {
      short got = polled[i].revents;
      if (got == 0) continue;
      bool stays = (got & (POLLERR | POLLHUP)) == 0 && ((got & POLLIN) == 0 || clients[i].Read());
      if (stays && (got & POLLOUT) != 0) stays = clients[i].Write(now);
      if (!stays) clients[i].Leave(now + kPause);
    }
  }
  for (One& one : clients) {
    if (one.fd >= 0) close(one.fd);
  }
}

void AllowDescriptors(size_t count) {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(std::max<rlim_t>(limit.rlim_cur, count), limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

AllDescriptors::AllDescriptors() {
  getrlimit(RLIMIT_NOFILE, &before_);
  rlimit few = before_;
  few.rlim_cur = std::min<rlim_t>(before_.rlim_cur, 512);
  setrlimit(RLIMIT_NOFILE, &few);
  for (int fd = 0; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken_.push_back(fd);
}

AllDescriptors::~AllDescriptors() {
  while (!taken_.empty()) Release();
  setrlimit(RLIMIT_NOFILE, &before_);
}

void AllDescriptors::Release() {
  close(taken_.back());
  taken_.pop_back();
}

}  // namespace capi::http_testing
