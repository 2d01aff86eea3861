#include "base/http/connection.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <functional>
#include <stop_token>

#include "base/http/sockets.h"
#include "base/http/tls.h"
#include "base/http/url.h"

namespace capi::http {
namespace {

// Small requests go out at once, and a peer that is gone is noticed within a minute also where nothing is sent.
void SetOptions(int fd) {
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  SetOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 60'000);
}

// One numeric address. The socket doesn't block.
Result<int> Connect(Waiter& waiter, const std::string& address, int port, MonoTime limit) {
  addrinfo hints = {};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (int error = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0)
    return Error{Code::kUnavailable, gai_strerror(error), {}};
  int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int started = -1;
  if (fd >= 0) {
    SetOptions(fd);
    started = connect(fd, found->ai_addr, found->ai_addrlen);
  }
  int error = errno;
  freeaddrinfo(found);
  if (started == 0) return fd;
  if (fd < 0) return Broken("socket", error);
  if (error == EINPROGRESS) {
    Status waited = waiter.Wait(fd, POLLOUT, limit);
    if (!waited.ok()) {
      close(fd);
      return waited.error();
    }
    socklen_t size = sizeof error;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) return fd;
  }
  close(fd);
  return Broken("connect", error);
}

}  // namespace

// An eventfd that a stop request makes readable. The callback goes (its destructor waits for it) before the descriptor
// does, whose number may be used again at once.
class Waiter::Waker {
 public:
  Waker(EventFd event, const std::stop_token& stop)
      : event_(std::move(event)), callback_(stop, [this] { event_.Set(); }) {}
  int fd() const { return event_.fd(); }

 private:
  const EventFd event_;
  std::stop_callback<std::function<void()>> callback_;
};

Waiter::Waiter(const Context& ctx) : ctx_(ctx) {
  if (!ctx.stop.stop_possible()) return;
  auto event = EventFd::Create();
  if (event.ok()) {
    waker_ = std::make_unique<Waker>(*std::move(event), ctx.stop);
  } else {
    deaf_ = event.error();
  }
}
Waiter::~Waiter() = default;

Status Waiter::Check() const {
  TRY(ctx_.Check());
  return deaf_;
}

Status Waiter::Wait(int fd, short events, std::optional<MonoTime> limit) {
  while (true) {
    TRY(Check());
    MonoTime now = ctx_.clock->Monotonic();
    if (limit && now >= *limit) return Error{Code::kUnavailable, "timed out", {}};
    std::optional<MonoTime> end = limit;
    if (ctx_.deadline && (!end || *ctx_.deadline < *end)) end = ctx_.deadline;
    int timeout = -1;
    if (end) {
      auto left = std::chrono::ceil<Millis>(*end - now).count();
      timeout = static_cast<int>(std::clamp<long long>(left, 1, INT_MAX));
    }
    pollfd fds[2] = {{fd, events, 0}, {waker_ ? waker_->fd() : -1, POLLIN, 0}};
    int ready = poll(fds, 2, timeout);
    if (ready < 0 && errno != EINTR) return Broken("poll", errno);
    if (ready > 0 && fds[0].revents != 0) return ctx_.Check();
  }
}

Error Connection::Inward(const std::string& address) {
  return Error{Code::kInvalidArgument,
               fmt::format("{} is an address of this machine or of a private network, where a server elsewhere may not "
                           "lead",
                           address),
               {}};
}

Result<std::unique_ptr<Connection>> Connection::Dial(Waiter& waiter, const std::string& host, int port, MonoTime limit,
                                                     Resolver& resolver,
                                                     const std::function<bool(const std::string&)>& refuses) {
  auto addresses = TRY(resolver.Resolve(waiter.ctx(), host, limit));
  for (const std::string& address : addresses) {
    if (refuses && refuses(address)) return Inward(address);
  }
  Error last{Code::kUnavailable, "no address", {}};
  for (size_t i = 0; i < addresses.size(); ++i) {
    // A dead address must not use up the time of those behind it.
    MonoTime now = waiter.ctx().clock->Monotonic();
    auto share = (limit - now) / static_cast<int>(addresses.size() - i);
    auto fd = Connect(waiter, addresses[i], port, now + share);
    if (fd.ok()) return std::unique_ptr<Connection>(new Connection(*fd));
    if (fd.code() != Code::kUnavailable) return fd.error();
    last = fd.error();
    if (addresses[i] != host) last = last.With(addresses[i]);
  }
  return last;
}

Connection::~Connection() {
  if (ssl_ != nullptr) {
    SSL_shutdown(ssl_);  // says goodbye if the socket takes it at once
    SSL_free(ssl_);
    ERR_clear_error();
  }
  close(fd_);
}

std::optional<short> Connection::TlsWants(int result) const {
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ: return static_cast<short>(POLLIN);
    case SSL_ERROR_WANT_WRITE: return static_cast<short>(POLLOUT);
    default: return std::nullopt;
  }
}

Status Connection::StartTls(Waiter& waiter, SSL_CTX* tls, const std::string& name, MonoTime limit) {
  ssl_ = SSL_new(tls);
  if (ssl_ == nullptr) return TlsError("TLS", nullptr);
  BIO* bio = NewSocketBio(fd_);
  SSL_set_bio(ssl_, bio, bio);
  SSL_set_hostflags(ssl_, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  bool set = IsIpAddress(name) ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), name.c_str()) == 1
                               : SSL_set1_host(ssl_, name.c_str()) == 1 && SSL_set_tlsext_host_name(ssl_, name.c_str());
  if (!set) return TlsError("TLS", nullptr);
  while (true) {
    ERR_clear_error();
    errno = 0;
    int result = SSL_connect(ssl_);
    if (result == 1) return Ok();
    auto wants = TlsWants(result);
    if (!wants) return TlsError("TLS handshake", ssl_);
    auto waited = waiter.Wait(fd_, *wants, limit);
    if (!waited.ok()) return waited.error().With("TLS handshake");
  }
}

Result<size_t> Connection::ReadTls(Waiter& waiter, char* into, size_t size, std::optional<MonoTime> limit) {
  while (true) {
    ERR_clear_error();
    errno = 0;
    int result = SSL_read(ssl_, into, static_cast<int>(std::min<size_t>(size, INT_MAX)));
    if (result > 0) return static_cast<size_t>(result);
    if (SSL_get_error(ssl_, result) == SSL_ERROR_ZERO_RETURN) return size_t{0};
    auto wants = TlsWants(result);
    if (!wants) return TlsError("read", ssl_);
    TRY(waiter.Wait(fd_, *wants, limit));
  }
}

Result<size_t> Connection::Read(Waiter& waiter, char* into, size_t size, std::optional<MonoTime> limit) {
  TRY(waiter.Check());
  if (ssl_ != nullptr) return ReadTls(waiter, into, size, limit);
  while (true) {
    ssize_t got = recv(fd_, into, size, 0);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno == EAGAIN) {
      TRY(waiter.Wait(fd_, POLLIN, limit));
    } else if (errno != EINTR) {
      return Broken("read", errno);
    }
  }
}

Status Connection::Write(Waiter& waiter, std::string_view bytes, std::optional<MonoTime> limit) {
  TRY(waiter.Check());
  while (!bytes.empty()) {
    ERR_clear_error();
    errno = 0;
    ssize_t sent = ssl_ != nullptr
                       ? SSL_write(ssl_, bytes.data(), static_cast<int>(std::min<size_t>(bytes.size(), INT_MAX)))
                       : send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      if (ssl_ == nullptr) sent_ += static_cast<std::uint64_t>(sent);
      bytes.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    short wants = POLLOUT;
    if (ssl_ != nullptr) {
      auto tls_wants = TlsWants(static_cast<int>(sent));
      if (!tls_wants) return TlsError("write", ssl_);
      wants = *tls_wants;
    } else if (errno == EINTR) {
      continue;
    } else if (errno != EAGAIN) {
      return Broken("write", errno);
    }
    TRY(waiter.Wait(fd_, wants, limit));
  }
  return Ok();
}

std::uint64_t Connection::written() const { return ssl_ != nullptr ? BIO_number_written(SSL_get_wbio(ssl_)) : sent_; }

bool Connection::Alive() {
  char byte;
  if (ssl_ == nullptr) return recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
  ERR_clear_error();
  // Takes in what TLS itself sends on an idle connection, session tickets say.
  int result = SSL_peek(ssl_, &byte, 1);
  return result <= 0 && SSL_get_error(ssl_, result) == SSL_ERROR_WANT_READ;
}

}  // namespace capi::http
