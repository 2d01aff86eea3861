// A small HTTP(S) server for probes, metrics and webhooks.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/http/client.h"

namespace capi::http {

struct ServerRequest {
  std::string method, path, query, body, remote;
  Headers headers;
};

struct ServerOptions {
  std::string address = "127.0.0.1:0";  // "host:port", ":port" for all interfaces; port 0 picks a free one
  std::string cert_pem, key_pem;        // TLS when set
  int threads = 32;                     // connections served at once; each has a thread while it lasts
  size_t max_body = 16u << 20;
};

// Thread-safe. Stops when destroyed.
class Server {
 public:
  using Handler = std::function<Response(const ServerRequest&)>;
  // Listens at once (kUnavailable when the address is taken) and serves in threads of its own.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, Handler handler);
  ~Server();
  std::string address() const;  // "127.0.0.1:41234", the port that it got
  void Stop();                  // waits for requests in flight, up to a second for idle connections

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::http
