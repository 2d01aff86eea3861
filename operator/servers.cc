#include "operator/servers.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>

#include "base/http/certificate.h"
#include "base/http/proxy.h"
#include "base/strings.h"
#include "operator/metrics_readers.h"
#include "operator/options.h"

namespace capi::ops {
namespace {

constexpr std::string_view kVerbosityPath = "/debug/flags/v";
constexpr size_t kMostOfNumber = 16;

// `body`: the longest that anybody sends.
http::ServerOptions OptionsOf(const std::string& address, int threads, size_t body) {
  http::ServerOptions options;
  options.address = address;
  options.threads = threads;
  options.limits.body = body;
  return options;
}

http::Response Text(int status, std::string body, std::string_view type = "text/plain; charset=utf-8") {
  http::Response response;
  response.status = status;
  response.body = std::move(body);
  response.headers.Set("Content-Type", type);
  return response;
}

// Until the process ends: then it is --v again.
http::Response SetVerbosity(const Logger& log, std::string_view body, const std::string& user) {
  const std::string_view number = Trim(body);
  int verbosity = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), verbosity);
  if (error != std::errc() || end != number.data() + number.size() || verbosity < 0) {
    return Text(400, fmt::format("the body has to be a number: {}\n", kVerbosities));
  }
  log.SetLevel(LevelOf(verbosity));
  log.Info("the verbosity was set", {{"v", verbosity}, {"by", user.empty() ? "somebody by loopback" : user}});
  return Text(200, fmt::format("the verbosity is {}\n", verbosity));
}

}  // namespace

bool IsLoopback(const std::string& address) {
  std::string host = address.substr(0, address.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return http::IsLoopbackHost(host);
}

Result<std::unique_ptr<http::Server>> ServeHealth(const std::string& address, std::function<bool()> ready) {
  return http::Server::Start(OptionsOf(address, 1, 0), [ready = std::move(ready)](const http::ServerRequest& request) {
    if (request.path == "/healthz") return Text(200, "ok\n");
    if (request.path == "/readyz")
      return ready() ? Text(200, "ok\n") : Text(503, "caches are not filled, or webhooks not served yet\n");
    return Text(404, "there are /healthz and /readyz\n");
  });
}

Result<std::unique_ptr<http::Server>> ServeDiagnostics(const std::string& address, bool insecure, kube::Client& client,
                                                       const kube::Metrics& metrics, Logger log) {
  const bool local = IsLoopback(address), open = insecure || local;
  http::ServerOptions options = OptionsOf(address, MetricsReaders::kThreads, kMostOfNumber);
  if (!open) {
    auto certificate = TRY(http::MakeSelfSigned({"localhost"}));
    options.cert_pem = certificate.cert_pem;
    options.key_pem = certificate.key_pem;
  }
  auto callers = std::make_shared<MetricsReaders>(client, SystemClock(), log);
  return http::Server::Start(options, [=, &metrics](const http::ServerRequest& request) {
    const std::string caller = request.headers.Get("Authorization");
    MetricsRefusal refusal;
    if (request.path == kVerbosityPath) {
      if (request.method != "PUT") return Text(405, "put a number there\n");
      if (open && !local) return Text(403, "with --insecure-diagnostics nobody can set the verbosity\n");
      if (!local) refusal = callers->Refusal(request.stop, caller, {"put", kVerbosityPath});
      return refusal.status != 0 ? Text(refusal.status, refusal.text) : SetVerbosity(log, request.body, refusal.user);
    }
    if (request.path != "/metrics") return Text(404, "there are /metrics and /debug/flags/v\n");
    if (!open) refusal = callers->Refusal(request.stop, caller);
    if (refusal.status != 0) return Text(refusal.status, refusal.text);
    return Text(200, metrics.Text(), "text/plain; version=0.0.4; charset=utf-8");
  });
}

}  // namespace capi::ops
