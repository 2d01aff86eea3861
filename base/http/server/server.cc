#include "base/http/server/server.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/http/server/handler_threads.h"
#include "base/http/server/listener.h"
#include "base/http/server/server_answer.h"
#include "base/http/server/server_connection.h"
#include "base/http/server/server_socket.h"
#include "base/mutex.h"

namespace capi::http {
namespace {

// Of the descriptors that the process may have, one server takes up a quarter at most: there are the others' and those
// of the clients to API servers.
constexpr size_t kShareOfDescriptors = 4;
// How long nobody is let in after the process ran out of descriptors with no connection of ours to close.
constexpr Millis kAcceptPause = Millis(100);
// Who holds less than this isn't why memory runs short.
constexpr size_t kHoldsLittle = 4u << 10;
// How long Stop lets an answer be written.
constexpr Millis kStopTime = Seconds(5);

MonoTime Now() { return SystemClock().Monotonic(); }

// Wakes a poll from another thread. Thread-safe.
class Wakeup {
 public:
  Wakeup() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Wakeup() { close(fd_); }
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;
  int fd() const { return fd_; }
  void Set() { eventfd_write(fd_, 1); }
  void Clear() {
    eventfd_t count = 0;
    eventfd_read(fd_, &count);
  }

 private:
  const int fd_;
};

// A connection, and when its client last did something whole: came, or sent a request that could be answered.
struct Connected {
  std::unique_ptr<ServerConnection> connection;
  std::uint64_t turn = 0;
};

// What a handler made of a connection's request.
struct Answered {
  ServerConnection* connection;
  std::string bytes;
};

ServerLimits Within(ServerLimits limits) {
  rlimit descriptors = {};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  limits.connections = std::min<size_t>(limits.connections, descriptors.rlim_cur / kShareOfDescriptors);
  return limits;
}

Response Handle(const Server::Handler& handler, const ServerRequest& request) {
  try {
    return handler(request);
  } catch (const std::exception&) {  // its words may hold what it read
    return {.status = 500, .headers = {}, .body = "internal error\n"};
  }
}

}  // namespace

class Server::Impl {
 public:
  Impl(Listener listener, TlsContext tls, ServerOptions options, Handler handler)
      : limits_(Within(options.limits)),
        handler_(std::move(handler)),
        address_(listener.address()),
        secure_(tls != nullptr),
        listener_(std::move(listener)),
        tls_(std::move(tls)),
        handlers_(std::make_unique<HandlerThreads>(static_cast<size_t>(std::max(1, options.threads)))),
        thread_([this] { Run(); }) {}
  ~Impl() { Stop(); }

  void Stop() {
    {
      MutexLock lock(mu_);
      stop_ = true;
    }
    wakeup_.Set();
    MutexLock lock(stop_mu_);
    if (thread_.joinable()) thread_.join();
    handlers_.reset();
  }

  Status SetCertificate(const std::string& cert_pem, const std::string& key_pem) {
    if (!secure_) return Error{Code::kInvalidArgument, "a server without TLS has no certificate", {}};
    TlsContext tls = TRY(NewServerTls(cert_pem, key_pem));
    MutexLock lock(mu_);
    tls_.swap(tls);
    return Ok();
  }

  const std::string& address() const { return address_; }

 private:
  void Run() {
    while (!(Stopping() && clients_.empty())) Turn();
  }

  bool Stopping() {
    MutexLock lock(mu_);
    return stop_;
  }

  // Waits until something can go on, and lets everything go on that can.
  void Turn() {
    Wait();
    MonoTime now = Now();
    wakeup_.Clear();
    TakeAnswers(now);
    for (size_t i = 0; i < clients_.size(); ++i) {
      bool ready = polled_[i + 2].revents != 0 || clients_[i].connection->busy();
      if (ready && !clients_[i].connection->answering()) Step(*clients_[i].connection, now);
    }
    for (Connected& client : clients_) {
      if (!client.connection->answering() && client.connection->deadline() <= now) client.connection->End();
    }
    if (Stopping()) Close(now);
    std::erase_if(clients_, [](const Connected& client) { return client.connection->over(); });
    FreeMemory();
    if (polled_[1].revents != 0 && listener_.fd() >= 0) Accept(now);
  }

  // polled_: the wake-up, the listener, and each of clients_.
  void Wait() {
    MonoTime now = Now(), until = MonoTime::max();
    bool accepting = now >= accept_from_ && (!Full() || NextToGo(0) != clients_.end());
    if (now < accept_from_) until = accept_from_;
    polled_ = {{wakeup_.fd(), POLLIN, 0}, {accepting ? listener_.fd() : -1, POLLIN, 0}};
    for (const Connected& client : clients_) {
      const ServerConnection& connection = *client.connection;
      bool waits = !connection.answering();
      polled_.push_back({waits ? connection.fd() : -1, connection.events(), 0});
      if (waits) until = std::min(until, connection.busy() ? now : connection.deadline());
    }
    int timeout = -1;
    if (until != MonoTime::max()) {
      auto left = std::chrono::ceil<Millis>(until - now).count();
      timeout = static_cast<int>(std::clamp<long long>(left, 0, INT_MAX));
    }
    if (poll(polled_.data(), polled_.size(), timeout) >= 0) return;
    for (pollfd& polled : polled_) polled.revents = 0;  // a signal
  }

  // Nobody new, and nobody but those whose requests are being answered.
  void Close(MonoTime now) {
    listener_.Close();
    for (Connected& client : clients_) {
      if (client.connection->writing()) client.connection->HurryUp(now + kStopTime);
      if (!client.connection->answering() && !client.connection->writing()) client.connection->End();
    }
  }

  void TakeAnswers(MonoTime now) {
    std::vector<Answered> answered;
    {
      MutexLock lock(mu_);
      answered.swap(answered_);
    }
    for (Answered& answer : answered) {
      auto of = [&](const Connected& client) { return client.connection.get() == answer.connection; };
      std::find_if(clients_.begin(), clients_.end(), of)->turn = ++turn_;
      answer.connection->Answer(std::move(answer.bytes), answer.connection->keep_alive(), now);
      Step(*answer.connection, now);
    }
  }

  void Step(ServerConnection& connection, MonoTime now) {
    auto request = connection.Step(now);
    if (!request) return;
    bool keep_alive = connection.keep_alive();
    handlers_->Run([this, to = &connection, keep_alive, request = *std::move(request)] {
      std::string bytes = FormatAnswer(request, Handle(handler_, request), keep_alive);
      MutexLock lock(mu_);
      answered_.push_back({to, std::move(bytes)});
      wakeup_.Set();
    });
  }

  bool Full() const { return clients_.size() >= limits_.connections; }

  // Who gives way to others: a client that was told to go, else the one that has gone the longest without a whole
  // request; of those that hold that much. Nobody whose request is being answered.
  std::vector<Connected>::iterator NextToGo(size_t holds) {
    auto next = clients_.end();
    for (auto at = clients_.begin(); at != clients_.end(); ++at) {
      const ServerConnection& connection = *at->connection;
      if (connection.answering() || connection.held() < holds) continue;
      auto rank = [](const Connected& client) { return std::pair(!client.connection->leaving(), client.turn); };
      if (next == clients_.end() || rank(*at) < rank(*next)) next = at;
    }
    return next;
  }

  void FreeMemory() {
    held_ = 0;
    for (const Connected& client : clients_) held_ += client.connection->held();
    while (held_ > limits_.held) {
      auto next = NextToGo(kHoldsLittle);
      if (next == clients_.end()) return;
      held_ -= next->connection->held();
      clients_.erase(next);
    }
  }

  void Accept(MonoTime now) {
    TlsContext tls;
    {
      MutexLock lock(mu_);
      tls = tls_;
    }
    // All who wait: among them is the probe. Most have sent their request by now, and are listened to at once.
    for (size_t i = 0; i < limits_.connections; ++i) {
      auto next = Full() ? NextToGo(0) : clients_.end();
      if (Full() && next == clients_.end()) return;
      auto accepted = listener_.Accept();
      if (!accepted.ok()) return MakeRoom(now);
      if (!*accepted) return;
      if (next != clients_.end()) clients_.erase(next);
      auto [fd, remote] = **std::move(accepted);
      auto connection = std::make_unique<ServerConnection>(fd, std::move(remote), tls.get(), limits_, now);
      clients_.push_back({std::move(connection), ++turn_});
      ServerConnection& last = *clients_.back().connection;
      Step(last, now);
      held_ += last.held();
      if (last.over()) clients_.pop_back();
      if (held_ > limits_.held) FreeMemory();
    }
  }

  // The process has no descriptor or memory left.
  void MakeRoom(MonoTime now) {
    auto next = NextToGo(0);
    if (next != clients_.end()) {
      clients_.erase(next);
    } else {
      accept_from_ = now + kAcceptPause;
    }
  }

  const ServerLimits limits_;
  const Handler handler_;
  const std::string address_;
  const bool secure_;
  Wakeup wakeup_;

  // Of the thread's.
  Listener listener_;
  std::vector<Connected> clients_;
  std::vector<pollfd> polled_;
  std::uint64_t turn_ = 0;
  size_t held_ = 0;  // by clients_, about
  MonoTime accept_from_ = MonoTime::min();

  Mutex mu_;
  bool stop_ CAPI_GUARDED_BY(mu_) = false;
  TlsContext tls_ CAPI_GUARDED_BY(mu_);
  std::vector<Answered> answered_ CAPI_GUARDED_BY(mu_);

  Mutex stop_mu_;  // of those who join
  std::unique_ptr<HandlerThreads> handlers_;
  std::thread thread_;
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, Handler handler) {
  TlsContext tls;
  if (!options.cert_pem.empty()) tls = TRY(NewServerTls(options.cert_pem, options.key_pem));
  Listener listener = TRY(Listener::Open(options.address));
  auto impl = std::make_unique<Impl>(std::move(listener), std::move(tls), std::move(options), std::move(handler));
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::string Server::address() const { return impl_->address(); }
Status Server::SetCertificate(const std::string& cert_pem, const std::string& key_pem) {
  return impl_->SetCertificate(cert_pem, key_pem);
}
void Server::Stop() { impl_->Stop(); }

}  // namespace capi::http
