#include "operator/servers.h"

#include <optional>

#include "base/http/certificate.h"
#include "base/http/proxy.h"
#include "base/strings.h"
#include "operator/metrics_readers.h"

namespace capi::ops {
namespace {

// Asking the API server about a caller may take a while; those that are known don't wait for it.
constexpr int kMetricsThreads = MetricsReaders::kMostAsked + 2;

// Nobody sends a body to probes and metrics.
http::ServerOptions Bodiless(const std::string& address, int threads) {
  http::ServerOptions options;
  options.address = address;
  options.threads = threads;
  options.limits.body = 0;
  return options;
}

http::Response Text(int status, std::string body, std::string_view type = "text/plain; charset=utf-8") {
  http::Response response;
  response.status = status;
  response.body = std::move(body);
  response.headers.Set("Content-Type", type);
  return response;
}

}  // namespace

bool IsLoopback(const std::string& address) {
  std::string host = address.substr(0, address.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return http::IsLoopbackHost(host);
}

Result<std::unique_ptr<http::Server>> ServeHealth(const std::string& address, std::function<bool()> ready) {
  return http::Server::Start(Bodiless(address, 1), [ready = std::move(ready)](const http::ServerRequest& request) {
    if (request.path == "/healthz") return Text(200, "ok\n");
    if (request.path == "/readyz")
      return ready() ? Text(200, "ok\n") : Text(503, "caches are not filled, or webhooks not served yet\n");
    return Text(404, "there are /healthz and /readyz\n");
  });
}

Result<std::unique_ptr<http::Server>> ServeMetrics(const std::string& address, bool insecure, kube::Client& client,
                                                   const kube::Metrics& metrics, Logger log) {
  bool open = insecure || IsLoopback(address);
  http::ServerOptions options = Bodiless(address, kMetricsThreads);
  if (!open) {
    auto certificate = TRY(http::MakeSelfSigned({"localhost"}));
    options.cert_pem = certificate.cert_pem;
    options.key_pem = certificate.key_pem;
  }
  auto readers = std::make_shared<MetricsReaders>(client, SystemClock(), std::move(log));
  return http::Server::Start(options, [&metrics, open, readers](const http::ServerRequest& request) {
    if (request.path != "/metrics") return Text(404, "there is /metrics\n");
    int refusal = open ? 0 : readers->Refusal(request.stop, request.headers.Get("Authorization"));
    if (refusal == 500) return Text(refusal, "the API server can't say now who may get /metrics\n");
    if (refusal != 0) return Text(refusal, "send a bearer token that may get /metrics\n");
    return Text(200, metrics.Text(), "text/plain; version=0.0.4; charset=utf-8");
  });
}

}  // namespace capi::ops
