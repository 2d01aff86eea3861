// HTTP and HTTPS requests over a pool of kept-alive connections.
//
// A deadline or a stop request of the Context ends a call at once, also one that is blocked in connect, TLS handshake,
// read or write. Bodies are unpacked when the server sends gzip. Proxies come from Options (see ProxyFromEnvironment).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/result.h"

namespace capi::http {

// A value. Names compare without regard to case; order is kept.
class Headers {
 public:
  void Set(std::string_view name, std::string_view value);  // replaces
  void Add(std::string_view name, std::string_view value);
  void Remove(std::string_view name);
  std::string Get(std::string_view name) const;  // first value or ""
  bool Has(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& all() const { return items_; }

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

struct Request {
  std::string method = "GET";
  std::string target;  // path and query, "/api/v1/pods?limit=1"
  Headers headers;
  std::string body;
  std::string content_type;  // of the body
  // When set, a 2xx body goes here piece by piece and Response.body stays empty. An error ends the call with it.
  std::function<Status(std::string_view piece)> on_data;
  // Called once for each Do (Fetch: one for each hop), when a connection for it is looked for. A call whose time is
  // over, or that couldn't wait for an answer, doesn't come so far.
  std::function<void()> on_begin;
  // Asked just before the first byte of the request is sent, and again each time that it is sent once more, on a
  // connection that is open by then. An error ends the call with it.
  std::function<Status()> before_send;
  // Called when a connection that was kept open is lost with the request, before a new one is looked for.
  std::function<void()> on_again;
  // Called when the head of an answer has come, whatever its status, before any of its body.
  std::function<void(int status)> on_head;
  // When nothing comes for so long, the call ends: with what came where it is a stream, else with kUnavailable.
  std::optional<Millis> max_silence;
  // Whether it does no harm twice; unset: as the method says (GET, HEAD, PUT, DELETE).
  std::optional<bool> idempotent;
  // A body (not streamed) larger than this is refused.
  size_t max_body = 256u << 20;
};

struct Response {
  int status = 0;
  Headers headers;
  std::string body;
};

struct TlsOptions {
  // Whom to trust: each of these certificates, an intermediate alone too. With ca_file both empty: the system's.
  std::string ca_pem;
  std::string ca_file;              // read again when it changes
  std::string cert_pem, key_pem;    // client certificate
  std::string cert_file, key_file;  // the same from files, read again when they change
  std::string server_name;          // instead of the URL's host, for SNI and verification
  bool insecure_skip_verify = false;
};

struct Proxy {
  std::string url;       // "http://user:pass@host:port"; "" for none
  std::string no_proxy;  // comma-separated hosts, domains, CIDRs, "*"
  bool always = false;   // named for this server: whatever no_proxy says, and for loopback addresses too
  // That of requests to http URLs, where it is another one than `url`, which then is that of https URLs alone.
  std::optional<std::string> http_url = {};
};

// HTTPS_PROXY, HTTP_PROXY and NO_PROXY (either case) as Go's net/http reads them (F8).
Proxy ProxyFromEnvironment(const std::function<const char*(const char*)>& getenv);

struct Url;  // base/http/url.h

struct Options {
  TlsOptions tls;
  Proxy proxy;
  Millis connect_timeout = Seconds(10);
  size_t max_idle = 8;  // connections kept for reuse
  Millis idle_timeout = Seconds(60);
  // Asked before a connection to an address of this machine or of a private network (IsInwardAddress), with the URL
  // that it is for; unset: any may be made. Through a proxy, which looks names up itself, for an address in the URL
  // alone.
  std::function<bool(const Url& url)> may_lead_inward = {};
};

// A client of one origin ("https://host:port"). Thread-safe; calls run side by side, each on its own connection.
class Client {
 public:
  // `base_url`: scheme, optional user and password (sent as Basic where a request has no Authorization of its own),
  // host, optional port, optional path prefix that goes before every target.
  static Result<std::unique_ptr<Client>> Create(std::string_view base_url, Options options);
  ~Client();

  // kUnavailable for transport errors (refused, reset, TLS, cut body, an answer that isn't framed as it should be);
  // kDeadlineExceeded and kCancelled from the context. Any HTTP status is a Response, not an error. A request that
  // meets a stale kept-alive connection is sent once more where it is idempotent; any other only where none of it was
  // written.
  Result<Response> Do(const Context& ctx, Request request);

  // Replaces client certificate and CA for connections made from now on; idle ones are dropped.
  Status SetTls(TlsOptions tls);

 private:
  class Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// One request to an absolute URL, which may have a user and a password as in Create; for downloads. GET and HEAD follow
// redirects, at most 10 and never from https to http, each through the proxy of its own scheme; credentials are not
// sent to another origin than the URL's.
Result<Response> Fetch(const Context& ctx, std::string_view url, Request request, const Options& options);

}  // namespace capi::http
