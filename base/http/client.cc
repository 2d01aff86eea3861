#include "base/http/client.h"

#include <fmt/core.h>

#include <utility>

#include "base/http/connection.h"
#include "base/http/exchange.h"
#include "base/http/fetch_from.h"
#include "base/http/grammar.h"
#include "base/http/proxy.h"
#include "base/http/tls.h"
#include "base/http/url.h"
#include "base/mutex.h"

namespace capi::http {
namespace {

constexpr int kMaxRedirects = 10;

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Nothing may break out of its line.
Status CheckRequest(const Request& request) {
  auto bad = [](std::string_view what) { return Error{Code::kInvalidArgument, fmt::format("bad {}", what), {}}; };
  if (!IsToken(request.method)) return bad("method");
  for (unsigned char c : request.target)
    if (c <= ' ' || c >= 0x7f) return bad("target: it must be escaped");
  for (const auto& [name, value] : request.headers.all()) {
    if (!IsToken(name)) return bad("header name");
    if (value.find_first_of(std::string_view("\r\n\0", 3)) != value.npos)
      return bad(fmt::format("value of header {}", name));
  }
  if (request.content_type.find_first_of("\r\n") != std::string::npos) return bad("content type");
  return Ok();
}

// A query may carry a signature or a token: errors show the path alone.
std::string Describe(const Url& url, const Request& request) {
  std::string target = url.path + request.target;
  return fmt::format("{} {}{}", request.method, url.Origin(), target.substr(0, target.find('?')));
}

// A URL's user and password, where the request has no credentials of its own.
void Authorize(const Url& url, Headers& headers) {
  if (!url.user_info.empty() && !headers.Has("Authorization")) headers.Add("Authorization", BasicAuthorization(url));
}

struct IdleConnection {
  std::unique_ptr<Connection> connection;
  MonoTime since;
};

}  // namespace

class Client::Impl {
 public:
  Impl(Url base, Options options, std::optional<Url> proxy)
      : base_(std::move(base)), proxy_(std::move(proxy)), options_(std::move(options)), files_({}) {}

  Status SetTls(TlsOptions options) {
    TlsFiles files(options);  // before they are read: what changes meanwhile is read again
    TlsContext tls;
    if (base_.tls()) tls = TRY(NewClientTls(options));
    std::vector<IdleConnection> dropped;
    MutexLock lock(mu_);
    tls_options_ = std::move(options);
    files_ = std::move(files);
    ReplaceTls(std::move(tls), dropped);
    return Ok();
  }

  Result<Response> Do(const Context& ctx, const Request& request) {
    Status valid = CheckRequest(request);
    if (!valid.ok()) return valid.error().With(Describe(base_, request));
    if (base_.tls()) ReloadTls(ctx);
    Waiter waiter(ctx);
    // Who couldn't wait for the answer sends nothing, on a connection that is kept open either.
    Status able = waiter.Check();
    if (!able.ok()) return able.error().With(Describe(base_, request));
    if (request.on_begin) request.on_begin();
    bool fresh = false;
    while (true) {
      auto lease = Acquire(waiter, fresh);
      if (!lease.ok()) return lease.error().With(Describe(base_, request));
      Status may_send = request.before_send ? request.before_send() : Ok();
      if (!may_send.ok()) {
        Release(*std::move(lease), ctx);
        return may_send.error().With(Describe(base_, request));
      }
      Exchange exchange = DoExchange(waiter, *lease->connection, request, RequestTarget(request), AllHeaders(request));
      const bool reused = lease->reused;
      if (exchange.reusable) Release(*std::move(lease), ctx);
      if (exchange.response.ok() || exchange.refused) return std::move(exchange.response);
      // A server may close an idle connection just when a request is on its way to it.
      bool stale = !fresh && reused && MaySendAgain(request, exchange);
      if (!stale) return exchange.response.error().With(Describe(base_, request));
      fresh = true;
      if (request.on_again) request.on_again();
    }
  }

 private:
  // A connection in use by one call.
  struct Lease {
    std::unique_ptr<Connection> connection;
    bool reused = false;
    std::uint64_t generation = 0;
  };

  // Certificates on disk are renewed from time to time. While a new set can't be used (a file half written, say), the
  // old one stays.
  void ReloadTls(const Context& ctx) {
    std::vector<IdleConnection> dropped;
    MutexLock lock(mu_);
    MonoTime now = ctx.clock->Monotonic();
    if (!files_.Changed(now)) return;
    auto tls = NewClientTls(tls_options_);
    if (tls.ok()) {
      ReplaceTls(*std::move(tls), dropped);
    } else if (files_.Unusable(now)) {
      ctx.log.Warn("changed TLS files can't be used yet", {{"error", tls.error().message}});
    }
  }

  void ReplaceTls(TlsContext tls, std::vector<IdleConnection>& dropped) CAPI_REQUIRES(mu_) {
    tls_ = std::move(tls);
    ++generation_;
    dropped.swap(idle_);
  }

  Result<Lease> Acquire(Waiter& waiter, bool fresh) {
    TlsContext tls;
    std::string name;
    Lease lease;
    std::vector<IdleConnection> dropped;  // closed after the lock is released
    {
      MutexLock lock(mu_);
      MonoTime oldest = waiter.ctx().clock->Monotonic() - options_.idle_timeout;
      while (!fresh && !idle_.empty() && !lease.connection) {
        IdleConnection last = std::move(idle_.back());
        idle_.pop_back();
        if (last.since >= oldest && last.connection->Alive()) {
          lease.connection = std::move(last.connection);
          lease.reused = true;
        } else {
          dropped.push_back(std::move(last));
        }
      }
      lease.generation = generation_;
      tls = tls_;
      name = tls_options_.server_name.empty() ? base_.host : tls_options_.server_name;
    }
    if (!lease.connection) lease.connection = TRY(Open(waiter, tls.get(), name));
    return lease;
  }

  Result<std::unique_ptr<Connection>> Open(Waiter& waiter, SSL_CTX* tls, const std::string& name) {
    MonoTime limit = waiter.ctx().clock->Monotonic() + options_.connect_timeout;
    const Url& to = proxy_ ? *proxy_ : base_;
    const std::function<bool(const std::string&)> refuses = [this](const std::string& address) {
      return options_.may_lead_inward && IsInwardAddress(address) && !options_.may_lead_inward(base_);
    };
    if (proxy_ && refuses(base_.host)) return Connection::Inward(base_.host);
    auto connection = TRY_WITH(Connection::Dial(waiter, to.host, to.port, limit, Resolver::System(),
                                                proxy_ ? std::function<bool(const std::string&)>() : refuses),
                               fmt::format("connect to {}{}", proxy_ ? "proxy " : "", to.HostPort()));
    if (!base_.tls()) return connection;
    if (proxy_) {
      TRY_WITH(OpenTunnel(waiter, *connection, base_.HostPort(), BasicAuthorization(*proxy_), limit),
               fmt::format("proxy {}", proxy_->HostPort()));
    }
    TRY(connection->StartTls(waiter, tls, name, limit));
    return connection;
  }

  void Release(Lease lease, const Context& ctx) {
    std::vector<IdleConnection> dropped;
    MutexLock lock(mu_);
    MonoTime now = ctx.clock->Monotonic();
    if (lease.generation == generation_) idle_.push_back({std::move(lease.connection), now});
    // The oldest stand first.
    size_t drop = idle_.size() > options_.max_idle ? idle_.size() - options_.max_idle : 0;
    while (drop < idle_.size() && idle_[drop].since < now - options_.idle_timeout) ++drop;
    auto end = idle_.begin() + static_cast<std::ptrdiff_t>(drop);
    dropped.assign(std::make_move_iterator(idle_.begin()), std::make_move_iterator(end));
    idle_.erase(idle_.begin(), end);
  }

  bool PlainProxy() const { return proxy_ && !base_.tls(); }

  std::string RequestTarget(const Request& request) const {
    std::string target = base_.path + request.target;
    if (target.empty() || target[0] != '/') target.insert(0, "/");
    return PlainProxy() ? base_.Origin() + target : target;
  }

  Headers AllHeaders(const Request& request) const {
    Headers headers;
    if (!request.headers.Has("Host")) headers.Add("Host", base_.HostHeader());
    for (const auto& [name, value] : request.headers.all()) headers.Add(name, value);
    headers.Remove("Content-Length");
    headers.Remove("Transfer-Encoding");
    if (!request.content_type.empty()) headers.Set("Content-Type", request.content_type);
    Authorize(base_, headers);
    if (std::string credentials = PlainProxy() ? BasicAuthorization(*proxy_) : ""; !credentials.empty())
      headers.Set("Proxy-Authorization", credentials);
    return headers;
  }

  const Url base_;
  const std::optional<Url> proxy_;
  const Options options_;  // but for tls, which may change
  Mutex mu_;
  TlsOptions tls_options_ CAPI_GUARDED_BY(mu_);
  TlsFiles files_ CAPI_GUARDED_BY(mu_);
  TlsContext tls_ CAPI_GUARDED_BY(mu_);
  std::uint64_t generation_ CAPI_GUARDED_BY(mu_) = 0;  // of tls_
  std::vector<IdleConnection> idle_ CAPI_GUARDED_BY(mu_);
};

namespace {

// What the next hop must not learn about us.
void DropCredentials(Request& request, Options& options) {
  for (const char* name : {"Authorization", "Cookie", "Proxy-Authorization", "PRIVATE-TOKEN"})
    request.headers.Remove(name);
  options.tls.cert_pem = options.tls.key_pem = options.tls.cert_file = options.tls.key_file = "";
  options.tls.server_name = "";
}

// Where a redirect leads; none for every other answer, kUnavailable from https to http.
Result<std::optional<Url>> NextHop(const Url& at, const Request& request, const Response& response) {
  bool followed = request.method == "GET" || request.method == "HEAD";
  std::string location = response.headers.Get("Location");
  if (!followed || !IsRedirect(response.status) || location.empty()) return std::optional<Url>();
  Url next = TRY_WITH(ResolveReference(at, location), "redirect");
  // What comes on the way there anybody could have changed.
  if (at.tls() && !next.tls()) {
    return Error{Code::kUnavailable,
                 fmt::format("{}: redirect to {}: from https to http nothing is followed", at.Origin(), next.Origin()),
                 {}};
  }
  return std::optional<Url>(std::move(next));
}

// Requests `url` and goes where redirects lead, at most kMaxRedirects of them, over connections of its own.
// `url` goes along.
Result<Response> Follow(const Context& ctx, Url& url, Request request, Options options,
                        const BeforeRedirect& before_redirect) {
  int hops = kMaxRedirects;
  std::unique_ptr<Client> client;
  std::string origin;
  while (true) {
    if (origin != url.Origin()) {
      origin = url.Origin();
      client = TRY(Client::Create(origin, options));
    }
    request.target = url.path;
    Authorize(url, request.headers);
    auto response = TRY(client->Do(ctx, request));
    auto next = TRY(NextHop(url, request, response));
    if (!next) return response;
    if (hops-- == 0) return Error{Code::kUnavailable, fmt::format("{}: too many redirects", origin), {}};
    if (before_redirect) TRY(before_redirect(*next));
    if (next->Origin() != origin) DropCredentials(request, options);
    url = *std::move(next);
  }
}

}  // namespace

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::Create(std::string_view base_url, Options options) {
  Url base = TRY(Url::Parse(base_url));
  while (base.path.ends_with('/')) base.path.pop_back();
  auto proxy = TRY(ProxyFor(base, options.proxy));
  TlsOptions tls = std::exchange(options.tls, {});
  auto impl = std::make_unique<Impl>(std::move(base), std::move(options), std::move(proxy));
  TRY(impl->SetTls(std::move(tls)));
  return std::unique_ptr<Client>(new Client(std::move(impl)));
}

Result<Response> Client::Do(const Context& ctx, Request request) { return impl_->Do(ctx, request); }

Status Client::SetTls(TlsOptions tls) { return impl_->SetTls(std::move(tls)); }

Result<Response> Fetch(const Context& ctx, std::string_view url, Request request, const Options& options) {
  Url by;
  return Fetch(ctx, url, std::move(request), options, by);
}

Result<Response> Fetch(const Context& ctx, std::string_view url, Request request, const Options& options, Url& by,
                       const BeforeRedirect& before_redirect) {
  by = TRY(Url::Parse(url));
  return Follow(ctx, by, std::move(request), options, before_redirect);
}

}  // namespace capi::http
