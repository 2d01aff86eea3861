// A small HTTP/1.1 server for probes, metrics and webhooks, with or without TLS, that strangers may reach.
//
// One thread waits for all connections; a connection costs a handler's thread only while its request, read whole, is
// answered. Whatever a client does or leaves undone has a bound (ServerLimits), and where connections or memory run
// short, the client that has gone the longest without a whole request gives way: so probes get in beside any number of
// slow ones. Requests that were read whole wait for a handler in the order in which they came, and give way too: half
// of the connections and of the memory is never behind the handlers.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "base/http/client.h"
#include "base/http/server/server_stream.h"

namespace capi::http {

struct ServerRequest {
  std::string method, path, query, body;
  Headers headers;
  std::stop_token stop = {};  // asked to stop when the server is: a handler that waits for others gives up then
};

// A handler's answer. A value.
struct ServerResponse : Response {
  ServerResponse() = default;
  ServerResponse(Response response) : Response(std::move(response)) {}  // NOLINT(google-explicit-constructor)
  // The body goes on with what is sent there, until that ends: then the connection does. Not for HEAD.
  std::shared_ptr<ServerStream> stream;
};

// Of one server. A value.
struct ServerLimits {
  // Bytes of the request line and the headers: twice the 8 KiB that the longest bearer tokens have.
  size_t head = 16u << 10;
  // Clients send about ten. Each costs more memory than its bytes.
  size_t header_lines = 100;
  // An admission review holds an object twice, and etcd takes none above 1.5 MiB.
  size_t body = 3u << 20;
  // A cluster's kubelet, Prometheus and API servers have about ten; a slow one costs a kilobyte, and less to keep than
  // to send away, as it comes back. A quarter of the process's descriptors at most.
  size_t connections = 1024;
  // Bytes that the requests, answers and TLS states of all connections hold together: five of the largest reviews, two
  // of them at handlers, or 340 clients whose TLS handshake goes on.
  size_t held = 16u << 20;

  // From the connection, or the first byte of a further request, to the end of its head; with the TLS handshake.
  Millis head_time = Seconds(10);
  // From the head's end to the body's. API servers give up on a webhook after 30 s at most.
  Millis body_time = Seconds(30);
  // From an answer's first byte to its last; of a stream, for what was sent there at once.
  Millis write_time = Seconds(30);
  // Between requests. Clients in Go close what has been idle for 90 s; who waits longer never closes a connection just
  // when a request is on its way.
  Millis idle_time = Seconds(120);
  // What is left of write_time once the server stops.
  Millis stop_time = Seconds(5);
};

struct ServerOptions {
  std::string address = "127.0.0.1:0";  // "host:port", ":port" for all interfaces; port 0 picks a free one
  std::string cert_pem, key_pem;        // TLS (1.2 and up) when set
  int threads = 32;                     // requests handled at once; threads start as they are needed
  ServerLimits limits;
};

// Thread-safe. Stops when destroyed.
class Server {
 public:
  // Called in several threads at once, with a whole request. Whatever it throws is answered with 500.
  using Handler = std::function<ServerResponse(const ServerRequest&)>;
  // Listens at once (kUnavailable when the address is taken, or no descriptor is left) and serves in threads of its
  // own.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, Handler handler);
  ~Server();
  std::string address() const;  // "127.0.0.1:41234", the port that it got
  // For connections from now on. kInvalidArgument for PEM that can't be used: the former certificate stays. Only where
  // the server began with one.
  Status SetCertificate(const std::string& cert_pem, const std::string& key_pem);
  // Waits for the answers that handlers are making. Requests that no handler has begun get 503, and each connection
  // ends with its answer.
  void Stop();

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::http
