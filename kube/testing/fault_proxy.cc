#include "kube/testing/fault_proxy.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <list>
#include <thread>

#include "base/encoding.h"
#include "base/files.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "kube/testing/http_wire.h"
#include "kube/testing/ports.h"
#include "kube/testing/tls.h"

namespace capi::kube {
namespace {

struct UpstreamAddress {
  std::string host;
  int port = 0;
};

Result<UpstreamAddress> ParseServer(const std::string& server) {
  constexpr std::string_view kScheme = "https://";
  size_t colon = server.rfind(':');
  if (server.rfind(kScheme, 0) != 0 || colon <= kScheme.size()) {
    return Error{Code::kInvalidArgument, server + ": expected https://HOST:PORT", {}};
  }
  return UpstreamAddress{server.substr(kScheme.size(), colon - kScheme.size()), std::atoi(server.c_str() + colon + 1)};
}

Result<std::string> TextOrFile(const std::string& text, const std::string& file) {
  if (!text.empty() || file.empty()) return text;
  return ReadFile(file);
}

std::string_view ReasonOf(int status) {
  switch (status) {
    case 400: return "BadRequest";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "NotFound";
    case 409: return "Conflict";
    case 410: return "Expired";
    case 422: return "Invalid";
    case 429: return "TooManyRequests";
    case 503: return "ServiceUnavailable";
    case 504: return "Timeout";
    default: return "InternalError";
  }
}

std::string FaultAnswer(const Fault& fault) {
  std::string body = fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"{}","reason":"{}","code":{}}})",
      fault.message.empty() ? "injected fault" : fault.message, ReasonOf(fault.status), fault.status);
  std::string retry = fault.retry_after.empty() ? "" : "Retry-After: " + fault.retry_after + "\r\n";
  return fmt::format("HTTP/1.1 {} Injected\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n{}",
                     fault.status, body.size(), retry, body);
}

// True where a message with this head is the last one of its connection.
bool EndsConnection(std::string_view head) {
  std::string_view line = head.substr(0, head.find("\r\n"));
  return line.find("HTTP/1.0") != line.npos || ToLower(HeaderOf(head, "connection")) == "close";
}

// What other threads may do to a connection: break it. Thread-safe.
class Breaker {
 public:
  // Registers a descriptor to be shut down; at once when broken already.
  void Add(int fd) {
    MutexLock lock(mu_);
    fds_.push_back(fd);
    if (broken_) shutdown(fd, SHUT_RDWR);
  }
  void Remove(int fd) {
    MutexLock lock(mu_);
    std::erase(fds_, fd);
  }
  void Break() {
    {
      MutexLock lock(mu_);
      broken_ = true;
      for (int fd : fds_) shutdown(fd, SHUT_RDWR);
    }
    changed_.notify_all();
  }
  bool broken() {
    MutexLock lock(mu_);
    return broken_;
  }
  void Sleep(Millis time) {
    MutexLock lock(mu_);
    changed_.wait_for(mu_, time, [this] {
      mu_.AssertHeld();
      return broken_;
    });
  }

 private:
  Mutex mu_;
  std::condition_variable_any changed_;
  std::vector<int> fds_ CAPI_GUARDED_BY(mu_);
  bool broken_ CAPI_GUARDED_BY(mu_) = false;
};

// A stream that a Breaker can cut, and its reader.
struct Peer {
  Peer(std::unique_ptr<TlsStream> tls, Breaker& cutter) : stream(std::move(tls)), reader(*stream), breaker(cutter) {
    breaker.Add(stream->fd());
  }
  ~Peer() { breaker.Remove(stream->fd()); }
  std::unique_ptr<TlsStream> stream;
  WireReader reader;
  Breaker& breaker;
};

struct Message {
  std::string head, body, method;
};

}  // namespace

class FaultProxy::Impl {
 public:
  ~Impl() { Stop(); }
  Status Start(const Config& upstream);
  void CutAll() {
    MutexLock lock(mu_);
    for (Connection& connection : connections_) connection.breaker.Break();
  }

  void SetAway(bool away) {
    {
      MutexLock lock(mu_);
      away_ = away;
    }
    if (away) CutAll();
  }
  int refused() {
    MutexLock lock(mu_);
    return refused_;
  }

  const Config& config() const { return config_; }
  void SetFaults(std::function<Fault(const ProxyRequest&)> faults) {
    MutexLock lock(mu_);
    faults_ = std::move(faults);
    unasked_.wait(mu_, [this] {
      mu_.AssertHeld();
      return asking_ == 0;
    });
  }
  std::vector<ProxyRequest> requests() {
    MutexLock lock(mu_);
    return requests_;
  }
  void Reset() {
    MutexLock lock(mu_);
    requests_.clear();
    refused_ = 0;
  }

 private:
  struct Connection {
    Breaker breaker;
    std::thread thread;
    bool ended = false;  // under mu_
  };

  void Stop();
  void AcceptLoop();
  void Serve(int fd, Breaker& breaker);
  Status Handle(const Message& request, Peer& client, std::unique_ptr<Peer>& upstream, Breaker& breaker);
  Result<std::string> Forward(const Message& request, std::unique_ptr<Peer>& upstream, Breaker& breaker);
  Fault Record(const Message& request);

  Config config_;  // as its clients see it
  UpstreamAddress address_;
  std::string upstream_ca_;
  KeyPair client_cert_;
  KeyPair own_;
  int listener_ = -1;
  std::thread acceptor_;
  Mutex mu_;
  bool stopping_ CAPI_GUARDED_BY(mu_) = false;
  bool away_ CAPI_GUARDED_BY(mu_) = false;
  int refused_ CAPI_GUARDED_BY(mu_) = 0;
  std::list<Connection> connections_ CAPI_GUARDED_BY(mu_);
  std::function<Fault(const ProxyRequest&)> faults_ CAPI_GUARDED_BY(mu_);
  int asking_ CAPI_GUARDED_BY(mu_) = 0;  // calls of faults_ that have not returned
  std::condition_variable_any unasked_;
  std::vector<ProxyRequest> requests_ CAPI_GUARDED_BY(mu_);
};

Status FaultProxy::Impl::Start(const Config& upstream) {
  address_ = TRY(ParseServer(upstream.server));
  upstream_ca_ = TRY(TextOrFile(upstream.tls.ca_pem, upstream.tls.ca_file));
  client_cert_.cert_pem = TRY(TextOrFile(upstream.tls.cert_pem, upstream.tls.cert_file));
  client_cert_.key_pem = TRY(TextOrFile(upstream.tls.key_pem, upstream.tls.key_file));
  own_ = TRY(MakeCertificate({.common_name = "fault-proxy", .alt_names = {"IP:127.0.0.1", "DNS:localhost"}}));
  int port = 0;
  listener_ = ListenOnLoopback(port);
  if (listener_ < 0) return Error{Code::kUnavailable, "no free port", {}};
  config_ = upstream;
  config_.server = fmt::format("https://127.0.0.1:{}", port);
  config_.tls = {.ca_pem = own_.cert_pem};
  acceptor_ = std::thread([this] { AcceptLoop(); });
  return Ok();
}

void FaultProxy::Impl::Stop() {
  if (listener_ < 0) return;
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  CutAll();
  std::list<Connection> rest;
  {
    MutexLock lock(mu_);
    rest.splice(rest.end(), connections_);
  }
  for (Connection& connection : rest) connection.thread.join();
}

void FaultProxy::Impl::AcceptLoop() {
  for (;;) {
    int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    std::list<Connection> ended;
    MutexLock lock(mu_);
    if (fd < 0 && stopping_) return;
    if (fd < 0) continue;
    for (auto it = connections_.begin(); it != connections_.end();) {
      auto next = std::next(it);
      if (it->ended) ended.splice(ended.end(), connections_, it);
      it = next;
    }
    for (Connection& connection : ended) connection.thread.join();  // has nothing left to do
    if (away_) {
      ResetWhenClosed(fd);
      close(fd);
      ++refused_;
      continue;
    }
    Connection& connection = connections_.emplace_back();
    connection.thread = std::thread([this, fd, &connection] {
      Serve(fd, connection.breaker);
      MutexLock done(mu_);
      connection.ended = true;
    });
  }
}

void FaultProxy::Impl::Serve(int fd, Breaker& breaker) {
  breaker.Add(fd);  // so that a handshake that hangs can be cut
  auto stream = TlsStream::Accept(fd, own_);
  breaker.Remove(fd);
  if (!stream.ok()) return;
  Peer client(std::move(*stream), breaker);
  std::unique_ptr<Peer> upstream;
  for (;;) {
    Message request;
    auto head = client.reader.Until("\r\n\r\n");
    if (!head.ok()) return;
    request.head = std::move(*head);
    request.method = request.head.substr(0, request.head.find(' '));
    auto body = ReadBody(client.reader, RequestFraming(request.head), [&](std::string_view raw, bool) {
      request.body += raw;
      return Ok();
    });
    if (!body.ok() || !Handle(request, client, upstream, breaker).ok() || EndsConnection(request.head)) return;
  }
}

Fault FaultProxy::Impl::Record(const Message& request) {
  std::function<Fault(const ProxyRequest&)> faults;
  ProxyRequest seen;
  {
    MutexLock lock(mu_);
    std::vector<std::string> line = Split(request.head.substr(0, request.head.find("\r\n")), ' ');
    seen.method = request.method;
    seen.target = line.size() > 1 ? line[1] : "";
    seen.user_agent = HeaderOf(request.head, "user-agent");
    seen.number = static_cast<int>(requests_.size()) + 1;
    seen.watch =
        seen.target.find("watch=true") != std::string::npos || seen.target.find("watch=1") != std::string::npos;
    requests_.push_back(seen);
    faults = faults_;
    ++asking_;
  }
  Fault fault = faults ? faults(seen) : Fault{};
  MutexLock lock(mu_);
  if (--asking_ == 0) unasked_.notify_all();
  return fault;
}

// The head of the answer. A kept connection that turns out to be dead is replaced once.
Result<std::string> FaultProxy::Impl::Forward(const Message& request, std::unique_ptr<Peer>& upstream,
                                              Breaker& breaker) {
  for (;;) {
    bool fresh = !upstream;
    if (breaker.broken()) return Error{Code::kCancelled, "cut", {}};
    if (fresh) {
      const KeyPair* certificate = client_cert_.cert_pem.empty() ? nullptr : &client_cert_;
      auto stream = TRY(TlsStream::Connect(address_.host, address_.port, upstream_ca_, certificate, Seconds(5)));
      upstream = std::make_unique<Peer>(std::move(stream), breaker);
    }
    upstream->reader.Mark();
    auto head = upstream->stream->Write(request.head + request.body).ok()
                    ? upstream->reader.Until("\r\n\r\n")
                    : Result<std::string>(Error{Code::kUnavailable, "write", {}});
    if (head.ok() || fresh || !upstream->reader.at_start()) return head;
    upstream.reset();
  }
}

// An error ends the client's connection.
Status FaultProxy::Impl::Handle(const Message& request, Peer& client, std::unique_ptr<Peer>& upstream,
                                Breaker& breaker) {
  const Error dropped{Code::kUnavailable, "dropped", {}};
  const Fault fault = Record(request);
  if (fault.delay.count() > 0) breaker.Sleep(fault.delay);
  if (!fault.after_server) {
    if (fault.drop) return dropped;
    if (fault.status != 0) return client.stream->Write(FaultAnswer(fault));
  }
  std::string head = TRY(Forward(request, upstream, breaker));
  // While an answer flows, a client has nothing to say: if it becomes readable, it has gone.
  upstream->reader.BeforeBlocking([&]() -> Status {
    pollfd both[] = {{upstream->stream->fd(), POLLIN, 0}, {client.stream->fd(), POLLIN, 0}};
    poll(both, 2, -1);
    return both[1].revents != 0 ? Status(dropped) : Ok();
  });
  const bool swallow = fault.after_server && (fault.drop || fault.status != 0);
  if (!swallow) TRY(client.stream->Write(head));
  size_t passed = 0;
  const Framing framing = ResponseFraming(head, request.method);
  auto pass = [&](std::string_view raw, bool payload) -> Status {
    if (swallow) return Ok();
    bool cut = payload && fault.cut_after && passed + raw.size() > *fault.cut_after;
    if (cut) raw = raw.substr(0, *fault.cut_after - passed);
    if (payload) passed += raw.size();
    TRY(client.stream->Write(raw));
    return cut ? Status(dropped) : Ok();
  };
  TRY(ReadBody(upstream->reader, framing, pass));
  upstream->reader.BeforeBlocking(nullptr);
  if (swallow && fault.drop) return dropped;
  if (swallow) TRY(client.stream->Write(FaultAnswer(fault)));
  return EndsConnection(head) || framing.kind == Framing::Kind::kUntilClose ? Status(dropped) : Ok();
}

FaultProxy::FaultProxy(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FaultProxy::~FaultProxy() = default;

Result<std::unique_ptr<FaultProxy>> FaultProxy::Start(const Config& upstream) {
  auto impl = std::make_unique<Impl>();
  TRY_WITH(impl->Start(upstream), "fault proxy");
  return std::unique_ptr<FaultProxy>(new FaultProxy(std::move(impl)));
}

Config FaultProxy::config() const { return impl_->config(); }

std::string FaultProxy::WriteKubeconfig(const std::string& folder) const {
  const Config& config = impl_->config();
  std::string token;
  if (config.credentials) {
    auto credential = config.credentials->Get(Context{}, nullptr);
    if (credential.ok() && credential->authorization.rfind("Bearer ", 0) == 0)
      token = credential->authorization.substr(7);
  }
  std::string path = folder + "/fault-proxy.kubeconfig";
  auto written = WriteFile(path,
                           fmt::format(R"(apiVersion: v1
kind: Config
clusters: [{{name: proxy, cluster: {{server: "{}", certificate-authority-data: {}}}}}]
users: [{{name: user, user: {{token: "{}"}}}}]
contexts: [{{name: proxy, context: {{cluster: proxy, user: user}}}}]
current-context: proxy
)",
                                       config.server, Base64Encode(config.tls.ca_pem), token),
                           0600);
  return written.ok() ? path : "";
}

void FaultProxy::SetFaults(std::function<Fault(const ProxyRequest&)> faults) { impl_->SetFaults(std::move(faults)); }
void FaultProxy::CutAllConnections() { impl_->CutAll(); }
void FaultProxy::SetAway(bool away) { impl_->SetAway(away); }
int FaultProxy::refused() const { return impl_->refused(); }
std::vector<ProxyRequest> FaultProxy::requests() const { return impl_->requests(); }
void FaultProxy::Reset() { impl_->Reset(); }

}  // namespace capi::kube
