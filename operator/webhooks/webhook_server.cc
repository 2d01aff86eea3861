#include "operator/webhooks/webhook_server.h"

#include <fmt/format.h>

#include "base/http/server/server_socket.h"
#include "base/strings.h"

namespace capi::ops {
namespace {

// At once: conversions of a list come one by one, an admission may ask the API server meanwhile.
constexpr int kThreads = 8;

// By the names of controller-runtime, so that its dashboards work.
constexpr kube::MetricFamily kReviews{"controller_runtime_webhook_requests_total",
                                      "Requests to webhooks by path and HTTP status."};
constexpr kube::MetricFamily kLatency{"controller_runtime_webhook_latency_seconds",
                                      "Time to answer a webhook's request."};
constexpr kube::MetricFamily kExpiry{"capi_operator_webhook_certificate_expiry_timestamp_seconds",
                                     "When the certificate that the webhooks serve ends; 0 while there is none."};

http::Response Text(int status, std::string body) {
  http::Response response;
  response.status = status;
  response.body = std::move(body) + "\n";
  response.headers.Set("Content-Type", "text/plain; charset=utf-8");
  return response;
}

bool IsJson(const std::string& content_type) {
  return ToLower(Trim(content_type.substr(0, content_type.find(';')))) == "application/json";
}

std::string Paths(const Reviews& reviews) {
  std::vector<std::string> paths;
  for (const auto& [path, review] : reviews) paths.push_back(path);
  return Join(paths, ", ");
}

}  // namespace

http::Response AnswerReview(const Reviews& reviews, const http::ServerRequest& request) {
  auto review = reviews.find(request.path);
  if (review == reviews.end()) return Text(404, "there are " + Paths(reviews));
  if (request.method != "POST") {
    http::Response refused = Text(405, "a review is sent with POST");
    refused.headers.Set("Allow", "POST");
    return refused;
  }
  if (!IsJson(request.headers.Get("Content-Type"))) return Text(415, "the body must be application/json");
  auto body = ParseJson(request.body);
  if (!body.ok()) return Text(400, "the body is no JSON: " + body.error().message);
  auto answer = review->second(Context{.stop = request.stop}.WithTimeout(kReviewTime), *std::move(body));
  if (!answer.ok()) {
    return Text(answer.code() == Code::kInvalidArgument ? 400 : 500, answer.error().message);
  }
  http::Response response;
  response.status = 200;
  response.body = ToJsonText(*answer);
  response.headers.Set("Content-Type", "application/json");
  return response;
}

WebhookServer::WebhookServer(std::string address, Reviews reviews, kube::Metrics& metrics)
    : address_(std::move(address)), reviews_(std::move(reviews)), metrics_(metrics) {
  metrics_.Set(kExpiry, {}, 0);
}

WebhookServer::~WebhookServer() = default;

Status WebhookServer::SetCertificate(const http::Certificate& certificate) {
  TRY(http::NewServerTls(certificate.cert_pem, certificate.key_pem));  // as the server does, which may not be there yet
  MutexLock lock(mu_);
  if (server_) TRY(server_->SetCertificate(certificate.cert_pem, certificate.key_pem));
  certificate_ = certificate;
  changed_.notify_all();
  if (auto facts = http::ReadCertificate(certificate.cert_pem); facts.ok()) {
    const auto until = std::chrono::duration_cast<Seconds>(facts->validity.not_after.time_since_epoch());
    metrics_.Set(kExpiry, {}, static_cast<double>(until.count()));
  }
  return Ok();
}

bool WebhookServer::Ready() const {
  MutexLock lock(mu_);
  return server_ != nullptr;
}

Status WebhookServer::Run(const Context& ctx) {
  TRY(Listen(ctx));
  std::unique_ptr<http::Server> stopping;
  {
    MutexLock lock(mu_);
    auto never = [] { return false; };
    ctx.clock->WaitUntil(changed_, mu_, ctx.stop, MonoTime::max(), never);
    if (server_) {
      ctx.log.Info("serving webhooks for a while longer: the Service may still name this pod",
                   {{"seconds", kServesOn.count()}});
      ctx.clock->WaitUntil(changed_, mu_, {}, ctx.clock->Monotonic() + kServesOn, never);
    }
    stopping.swap(server_);
  }
  if (stopping) stopping->Stop();  // outside of the lock: what was asked is answered first
  return Ok();
}

// Until it listens, or is to stop.
Status WebhookServer::Listen(const Context& ctx) {
  MutexLock lock(mu_);
  auto there = [this] {
    mu_.AssertHeld();
    return certificate_.has_value();
  };
  if (!ctx.clock->WaitUntil(changed_, mu_, ctx.stop, MonoTime::max(), there) || ctx.stop.stop_requested()) return Ok();
  http::ServerOptions options;
  options.address = address_;
  options.cert_pem = certificate_->cert_pem;
  options.key_pem = certificate_->key_pem;
  options.threads = kThreads;
  server_ = TRY(
      http::Server::Start(std::move(options), [this](const http::ServerRequest& request) { return Answer(request); }));
  ctx.log.Info("serving webhooks", {{"address", server_->address()}});
  return Ok();
}

http::Response WebhookServer::Answer(const http::ServerRequest& request) {
  const MonoTime began = SystemClock().Monotonic();
  http::Response response = AnswerReview(reviews_, request);
  // A path of the table, so that strangers can't make series.
  const std::string path = reviews_.count(request.path) > 0 ? request.path : "other";
  std::chrono::duration<double> took = SystemClock().Monotonic() - began;
  metrics_.Count(kReviews, {{"webhook", path}, {"code", std::to_string(response.status)}});
  metrics_.Observe(kLatency, {{"webhook", path}}, took.count());
  return response;
}

}  // namespace capi::ops
