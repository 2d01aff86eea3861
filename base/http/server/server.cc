#include "base/http/server/server.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/http/server/handler_threads.h"
#include "base/http/server/listener.h"
#include "base/http/server/server_answer.h"
#include "base/http/server/server_connection.h"
#include "base/http/server/server_socket.h"
#include "base/http/sockets.h"
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
// At most so much of its connections and of its memory a server gives to requests that handlers have: the rest is for
// those that can give way to others.
constexpr size_t kShareOfHandlers = 2;

MonoTime Now() { return SystemClock().Monotonic(); }

// A connection, and when its client last did something whole: came, sent a request, or was answered.
struct Connected {
  std::unique_ptr<ServerConnection> connection;
  std::uint64_t turn = 0;
};

// What a handler made of a connection's request.
struct Answered {
  ServerConnection* connection;
  std::string bytes;
  bool keep_alive;
  std::shared_ptr<ServerStream> stream;
};

ServerLimits Within(ServerLimits limits) {
  rlimit descriptors = {};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  limits.connections = std::min<size_t>(limits.connections, descriptors.rlim_cur / kShareOfDescriptors);
  return limits;
}

// Whether the socket is what a connection waits for.
bool OnSocket(const ServerConnection& connection) { return !connection.whole() && !connection.answering(); }

void Refuse(ServerConnection& connection, MonoTime now) {
  Response why{.status = 503, .headers = {}, .body = "the server is busy or stops\n"};
  connection.Answer(FormatAnswer({}, std::move(why), false), false, now);
}

}  // namespace

class Server::Impl {
 public:
  Impl(Listener listener, EventFd wakeup, TlsContext tls, ServerOptions options, Handler handler)
      : limits_(Within(options.limits)),
        handler_(std::move(handler)),
        address_(listener.address()),
        secure_(tls != nullptr),
        wakeup_(std::move(wakeup)),
        listener_(std::move(listener)),
        tls_(std::move(tls)),
        handlers_(std::make_unique<HandlerThreads>(static_cast<size_t>(std::max(1, options.threads)))),
        thread_([this] { Run(); }) {}
  ~Impl() { Stop(); }

  void Stop() {
    stop_.request_stop();
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
    listener_.Close();  // also when it stops before its first turn
  }

  bool Stopping() const { return stop_.stop_requested(); }

  // Waits until something can go on, and lets everything go on that can. Between two requests of one client there is
  // always an Accept to which it can give way: what is read whole goes to the handlers after it, and what follows an
  // answer is read in a later turn.
  void Turn() {
    Wait();
    MonoTime now = Now();
    for (size_t i = 0; i < clients_.size(); ++i) {
      bool ready = polled_[i + 2].revents != 0 || clients_[i].connection->busy();
      if (!ready || !OnSocket(*clients_[i].connection)) continue;
      if (clients_[i].connection->streaming()) clients_[i].turn = ++turn_;  // as long as it takes what it gets
      Step(clients_[i], now);
    }
    wakeup_.Clear();
    TakeAnswers(now);
    for (Connected& client : clients_) {
      if (!client.connection->answering() && client.connection->deadline() <= now) Expire(*client.connection, now);
    }
    if (Stopping()) Close(now);
    std::erase_if(clients_, [](const Connected& client) { return client.connection->over(); });
    FreeMemory();
    if (polled_[1].revents != 0 && listener_.fd() >= 0) Accept(now);
    HandOver();
  }

  void Step(Connected& client, MonoTime now) {
    client.connection->Step(now);
    if (client.connection->whole()) client.turn = ++turn_;
  }

  static void Expire(ServerConnection& connection, MonoTime now) {
    if (connection.whole()) return Refuse(connection, now);
    connection.End();
  }

  // polled_: the wake-up, the listener, and each of clients_.
  void Wait() {
    MonoTime now = Now(), until = MonoTime::max();
    bool accepting = now >= accept_from_ && (!Full() || NextToGo(0) != clients_.end());
    if (now < accept_from_) until = accept_from_;
    polled_ = {{wakeup_.fd(), POLLIN, 0}, {accepting ? listener_.fd() : -1, POLLIN, 0}};
    for (const Connected& client : clients_) {
      const ServerConnection& connection = *client.connection;
      polled_.push_back({OnSocket(connection) ? connection.fd() : -1, connection.events(), 0});
      if (!connection.answering()) until = std::min(until, connection.busy() ? now : connection.deadline());
    }
    int timeout = -1;
    if (until != MonoTime::max()) {
      auto left = std::chrono::ceil<Millis>(until - now).count();
      timeout = static_cast<int>(std::clamp<long long>(left, 0, INT_MAX));
    }
    if (poll(polled_.data(), polled_.size(), timeout) >= 0) return;
    for (pollfd& polled : polled_) polled.revents = 0;  // a signal
  }

  // Nobody new, and nobody but those who get an answer, which is their last.
  void Close(MonoTime now) {
    listener_.Close();
    for (Connected& client : clients_) {
      ServerConnection& connection = *client.connection;
      if (connection.whole()) Refuse(connection, now);
      bool ends = connection.answering() || (connection.writing() && !connection.streaming()) || connection.leaving();
      if (!ends) connection.End();
      if (connection.writing()) connection.HurryUp(now + limits_.stop_time);
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
      Connected& client = *std::find_if(clients_.begin(), clients_.end(), of);
      client.turn = ++turn_;
      if (answer.stream) {
        client.connection->Answer(
            std::move(answer.bytes), std::move(answer.stream), [this] { wakeup_.Set(); }, now);
      } else {
        client.connection->Answer(std::move(answer.bytes), answer.keep_alive && !Stopping(), now);
      }
      Step(client, now);
    }
  }

  // Gives the handlers what has been read whole, in its order, as far as their share goes; who is too large for what is
  // left of it holds up nobody behind.
  void HandOver() {
    std::vector<Connected*> whole;
    size_t count = 0, bytes = 0;
    for (Connected& client : clients_) {
      if (client.connection->whole()) whole.push_back(&client);
      if (!client.connection->answering()) continue;
      ++count;
      bytes += client.connection->held();
    }
    std::sort(whole.begin(), whole.end(), [](const Connected* a, const Connected* b) { return a->turn < b->turn; });
    for (Connected* client : whole) {
      size_t holds = client->connection->held();
      bool fits = count < limits_.connections / kShareOfHandlers &&
                  (holds < kHoldsLittle || bytes + holds <= limits_.held / kShareOfHandlers);
      if (count > 0 && !fits) continue;
      ++count;
      bytes += holds;
      Handle(*client->connection);
    }
  }

  void Handle(ServerConnection& connection) {
    ServerRequest request = connection.TakeRequest();
    request.stop = stop_.get_token();
    handlers_->Run([this, to = &connection, keep_alive = connection.keep_alive(), request = std::move(request)] {
      std::shared_ptr<ServerStream> stream;
      std::string bytes = Answer(request, keep_alive, stream);
      MutexLock lock(mu_);
      answered_.push_back({to, std::move(bytes), keep_alive, std::move(stream)});
      wakeup_.Set();
    });
  }

  // In a handler's thread.
  std::string Answer(const ServerRequest& request, bool keep_alive, std::shared_ptr<ServerStream>& stream) const {
    if (Stopping()) return FormatAnswer(request, {.status = 503, .headers = {}, .body = "the server stops\n"}, false);
    try {
      ServerResponse response = handler_(request);
      if (response.stream && request.method != "HEAD") {
        stream = std::move(response.stream);
        return FormatStreamHead(std::move(response));
      }
      if (response.stream) response.stream->Detach();  // nobody will take anything from it
      return FormatAnswer(request, std::move(response), keep_alive && !Stopping());
    } catch (...) {  // its words may hold what it read
      return FormatAnswer(request, {.status = 500, .headers = {}, .body = "internal error\n"}, keep_alive);
    }
  }

  bool Full() const { return clients_.size() >= limits_.connections; }

  // Who gives way to others: a client that was told to go, else the one that has gone the longest without a whole
  // request; of those that hold that much. Nobody whose request handlers have and haven't answered yet.
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

  // With the certificate as it is now.
  TlsContext Tls() {
    MutexLock lock(mu_);
    return tls_;
  }

  void Accept(MonoTime now) {
    // All who wait: among them is the probe. Most have sent their request by now, and are listened to at once.
    for (size_t i = 0; i < limits_.connections; ++i) {
      auto next = Full() ? NextToGo(0) : clients_.end();
      if (Full() && next == clients_.end()) return;
      auto accepted = listener_.Accept();
      if (!accepted.ok()) return MakeRoom(now);
      if (!*accepted) return;
      if (next != clients_.end()) clients_.erase(next);
      // Asked for each, after it came: who comes after a change of the certificate gets the new one.
      TlsContext tls = Tls();
      clients_.push_back({std::make_unique<ServerConnection>(**accepted, tls.get(), limits_, now), ++turn_});
      Step(clients_.back(), now);
      held_ += clients_.back().connection->held();
      if (clients_.back().connection->over()) clients_.pop_back();
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
  const EventFd wakeup_;
  std::stop_source stop_;

  // Of the thread's.
  Listener listener_;
  std::vector<Connected> clients_;
  std::vector<pollfd> polled_;
  std::uint64_t turn_ = 0;
  size_t held_ = 0;  // by clients_, about
  MonoTime accept_from_ = MonoTime::min();

  Mutex mu_;
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
  EventFd wakeup = TRY(EventFd::Create());
  auto impl = std::make_unique<Impl>(std::move(listener), std::move(wakeup), std::move(tls), std::move(options),
                                     std::move(handler));
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::string Server::address() const { return impl_->address(); }
Status Server::SetCertificate(const std::string& cert_pem, const std::string& key_pem) {
  return impl_->SetCertificate(cert_pem, key_pem);
}
void Server::Stop() { impl_->Stop(); }

}  // namespace capi::http
