#include "base/http/server.h"

#include <fmt/core.h>
#include <httplib.h>

#include <condition_variable>
#include <future>
#include <list>
#include <thread>

#include "base/http/tls.h"
#include "base/http/url.h"
#include "base/mutex.h"

namespace capi::http {
namespace {

// A thread for each connection while it lasts: httplib serves a kept-alive connection in one task to its end, so a few
// idle ones would block a pool of fixed size. Thread-safe.
class ConnectionThreads : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(size_t most) : most_(most) {}

  void enqueue(std::function<void()> serve) override {
    MutexLock lock(mu_);
    ended_.wait(mu_, [this]() CAPI_NO_THREAD_SAFETY_ANALYSIS { return running_ < most_; });
    Join();
    ++running_;
    auto at = threads_.emplace(threads_.end());
    *at = std::thread([this, at, serve = std::move(serve)] {
      serve();
      MutexLock end(mu_);
      --running_;
      done_.splice(done_.end(), threads_, at);
      ended_.notify_all();
    });
  }

  void shutdown() override {
    MutexLock lock(mu_);
    ended_.wait(mu_, [this]() CAPI_NO_THREAD_SAFETY_ANALYSIS { return running_ == 0; });
    Join();
  }

 private:
  // A thread that moved itself to done_ does nothing afterwards but unlock.
  void Join() CAPI_REQUIRES(mu_) {
    std::list<std::thread> done = std::move(done_);
    done_.clear();
    mu_.unlock();
    for (std::thread& thread : done) thread.join();
    mu_.lock();
  }

  const size_t most_;
  Mutex mu_;
  std::condition_variable_any ended_;
  size_t running_ CAPI_GUARDED_BY(mu_) = 0;
  std::list<std::thread> threads_ CAPI_GUARDED_BY(mu_), done_ CAPI_GUARDED_BY(mu_);
};

struct Listen {
  std::string host;
  int port = 0;
};

Result<Listen> ParseAddress(const std::string& address) {
  size_t colon = address.rfind(':');
  std::string port = colon == address.npos ? "" : address.substr(colon + 1);
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != port.npos || std::stoi(port) > 65535)
    return Error{Code::kInvalidArgument, fmt::format("address \"{}\" is not host:port", address), {}};
  std::string host = address.substr(0, colon);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return Listen{host, std::stoi(port)};
}

Result<std::unique_ptr<httplib::Server>> NewServer(const ServerOptions& options) {
  if (options.cert_pem.empty()) return std::make_unique<httplib::Server>();
  Status used;
  auto setup = [&](SSL_CTX& tls) {
    SSL_CTX_set_min_proto_version(&tls, TLS1_2_VERSION);
    used = UseCertificate(&tls, options.cert_pem, options.key_pem);
    return used.ok();
  };
  std::unique_ptr<httplib::Server> server = std::make_unique<httplib::SSLServer>(setup);
  if (!used.ok()) return used.error();
  return server;
}

// Several processes may not share the port, unlike with httplib's own default.
void SetListenOptions(socket_t fd) {
  int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

ServerRequest Convert(const httplib::Request& from) {
  ServerRequest to;
  to.method = from.method;
  size_t query = std::min(from.target.find('?'), from.target.size());
  to.path = from.target.substr(0, query);
  if (query < from.target.size()) to.query = from.target.substr(query + 1);
  to.remote = from.remote_addr;
  for (const auto& [name, value] : from.headers) {
    bool made_up = name == "REMOTE_ADDR" || name == "REMOTE_PORT" || name == "LOCAL_ADDR" || name == "LOCAL_PORT";
    if (!made_up) to.headers.Add(name, value);
  }
  return to;
}

void Answer(Response from, httplib::Response& to) {
  to.status = from.status == 0 ? 200 : from.status;
  to.body = std::move(from.body);
  for (const auto& [name, value] : from.headers.all()) to.headers.emplace(name, value);
  to.headers.erase("Content-Length");  // httplib counts
}

}  // namespace

class Server::Impl {
 public:
  Impl(std::unique_ptr<httplib::Server> server, ServerOptions options, Handler handler)
      : server_(std::move(server)), options_(std::move(options)), handler_(std::move(handler)) {}
  ~Impl() { Stop(); }

  Status Start() {
    Listen listen = TRY(ParseAddress(options_.address));
    Configure();
    std::vector<std::string> hosts = {listen.host};
    if (listen.host.empty()) hosts = {"::", "0.0.0.0"};  // the first takes IPv4 too, where there is IPv6
    int port = -1;
    for (const std::string& host : hosts) {
      if (port > 0) break;
      port = Bind(host, listen.port);
      Url url{"http", "", host, port, ""};
      address_ = url.HostPort();
    }
    if (port <= 0)
      return Error{Code::kUnavailable, fmt::format("listen on {}: {}", options_.address, strerrordesc_np(errno)), {}};
    thread_ = std::thread([this] { server_->listen_after_bind(); });
    running_.get_future().wait();
    return Ok();
  }

  void Stop() {
    MutexLock lock(mu_);
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
  }

  const std::string& address() const { return address_; }

 private:
  int Bind(const std::string& host, int port) {
    if (port == 0) return server_->bind_to_any_port(host);
    return server_->bind_to_port(host, port) ? port : -1;
  }

  void Configure() {
    server_->set_socket_options(SetListenOptions);
    server_->set_tcp_nodelay(true);
    server_->set_keep_alive_max_count(10'000);
    server_->set_keep_alive_timeout(1);  // an idle connection holds a thread, and Stop waits for it
    server_->set_read_timeout(10, 0);
    server_->set_write_timeout(10, 0);
    server_->set_payload_max_length(options_.max_body);
    server_->new_task_queue = [this] {
      running_.set_value();  // from here on stop() works
      return new ConnectionThreads(static_cast<size_t>(std::max(1, options_.threads)));
    };
    auto without_body = [this](const httplib::Request& request, httplib::Response& response) {
      Answer(handler_(Convert(request)), response);
    };
    auto with_body = [this](const httplib::Request& request, httplib::Response& response,
                            const httplib::ContentReader& read) { ServeBody(request, response, read); };
    const std::string every = "[^]*";
    server_->Get(every, without_body);
    server_->Options(every, without_body);
    server_->Post(every, with_body);
    server_->Put(every, with_body);
    server_->Patch(every, with_body);
    server_->Delete(every, with_body);
  }

  // httplib bounds only bodies that say their length.
  void ServeBody(const httplib::Request& from, httplib::Response& response, const httplib::ContentReader& read) {
    ServerRequest request = Convert(from);
    bool too_large = false;
    bool complete = read([&](const char* data, size_t size) {
      too_large = request.body.size() + size > options_.max_body;
      if (!too_large) request.body.append(data, size);
      return !too_large;
    });
    if (complete) return Answer(handler_(request), response);
    response.status = too_large ? 413 : response.status > 0 ? response.status : 400;
    response.set_header("Connection", "close");
  }

  std::unique_ptr<httplib::Server> server_;
  const ServerOptions options_;
  const Handler handler_;
  std::string address_;
  std::promise<void> running_;
  Mutex mu_;
  std::thread thread_;
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, Handler handler) {
  auto server = TRY(NewServer(options));
  auto impl = std::make_unique<Impl>(std::move(server), std::move(options), std::move(handler));
  TRY(impl->Start());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::string Server::address() const { return impl_->address(); }
void Server::Stop() { impl_->Stop(); }

}  // namespace capi::http
