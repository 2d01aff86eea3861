#include "operator/servers.h"

#include <optional>

#include "base/http/certificate.h"
#include "base/http/proxy.h"
#include "base/strings.h"
#include "operator/webhooks/access_review.h"

namespace capi::ops {
namespace {

// Asking the API server about a caller may take a while; the next ones don't wait for it.
constexpr int kReviewsAtOnce = 4;

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

// Who holds this token; nullopt for nobody. An error is that nobody could tell: the API server is away, or the operator
// may not ask.
Result<std::optional<Json>> Review(const Context& ctx, kube::Client& client, const std::string& token) {
  kube::Object review(
      Json{{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", {{"token", token}}}});
  kube::Object answer = TRY(client.Create(ctx, kube::Builtin("TokenReview"), review, {.unguarded = true}));
  if (!GetBool(answer.json(), {"status", "authenticated"})) return std::optional<Json>();
  const Json* user = Find(answer.json(), {"status", "user"});
  return std::optional<Json>(user == nullptr ? Json::object() : *user);
}

// 0 when the caller may read metrics, else the status to answer.
int Refusal(kube::Client& client, AccessReviews& access, const http::ServerRequest& request) {
  std::string header = request.headers.Get("Authorization");
  constexpr std::string_view kBearer = "Bearer ";
  if (header.rfind(kBearer, 0) != 0) return 401;
  Context ctx = Context{}.WithStop(request.stop).WithTimeout(Seconds(10));
  auto user = Review(ctx, client, header.substr(kBearer.size()));
  if (!user.ok()) return 500;
  if (!*user) return 401;
  auto allowed = access.Allowed(ctx, **user, {{"nonResourceAttributes", {{"path", "/metrics"}, {"verb", "get"}}}});
  if (!allowed.ok()) return 500;
  return *allowed ? 0 : 403;
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
                                                   const kube::Metrics& metrics) {
  bool open = insecure || IsLoopback(address);
  http::ServerOptions options = Bodiless(address, kReviewsAtOnce);
  if (!open) {
    auto certificate = TRY(http::MakeSelfSigned({"localhost"}));
    options.cert_pem = certificate.cert_pem;
    options.key_pem = certificate.key_pem;
  }
  auto access = std::make_shared<AccessReviews>(client, SystemClock());
  return http::Server::Start(options, [&client, &metrics, open, access](const http::ServerRequest& request) {
    if (request.path != "/metrics") return Text(404, "there is /metrics\n");
    int refusal = open ? 0 : Refusal(client, *access, request);
    if (refusal == 500) return Text(refusal, "the API server can't say now who may get /metrics\n");
    if (refusal != 0) return Text(refusal, "send a bearer token that may get /metrics\n");
    return Text(200, metrics.Text(), "text/plain; version=0.0.4; charset=utf-8");
  });
}

}  // namespace capi::ops
