// The HTTPS server that the API server calls: each path is a function of a review.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/context.h"
#include "base/http/certificate.h"
#include "base/http/server/server.h"
#include "base/json.h"
#include "base/mutex.h"
#include "kube/runtime/metrics.h"

namespace capi::ops {

// The API server gives up on a webhook after the ten seconds that its configuration says, and with no word of why.
inline constexpr Millis kReviewTime = Seconds(8);

// A review's answer, within kReviewTime. kInvalidArgument: what was sent is no such review; any other error: nobody can
// answer now. Called in several threads at once.
using Review = std::function<Result<Json>(const Context&, Json)>;
using Reviews = std::map<std::string, Review>;  // by path: "/convert"

// 405 unless it is a POST, 404 for an unknown path, 415 unless the body is application/json, 400 with the reason for
// what is no JSON or no such review, 500 for the other errors, else 200 and the answer as JSON. Thread-safe where the
// reviews are.
http::Response AnswerReview(const Reviews& reviews, const http::ServerRequest& request);

// How long webhooks are served on after the stop. The pod is told to stop when it is taken off its Service, and not
// after that: it takes kube-proxy and API servers some time to call it no more, and with failurePolicy Fail a call that
// nobody answers fails a write. The Deployment gives the pod half a minute to end.
inline constexpr Seconds kServesOn{5};

// Never without TLS: it listens once there is a certificate. Thread-safe.
class WebhookServer {
 public:
  WebhookServer(std::string address, Reviews reviews, kube::Metrics& metrics);
  ~WebhookServer();

  // For connections from now on. kInvalidArgument for one that can't be used: the former one stays.
  Status SetCertificate(const http::Certificate& certificate);
  // Whether it serves.
  bool Ready() const;
  // Blocks: listens from the first certificate on until kServesOn after the context has stopped, then ends as
  // http::Server::Stop does. An error where the address can't be listened at.
  Status Run(const Context& ctx);

 private:
  Status Listen(const Context& ctx);
  http::Response Answer(const http::ServerRequest& request);

  const std::string address_;
  const Reviews reviews_;
  kube::Metrics& metrics_;
  mutable Mutex mu_;
  std::condition_variable_any changed_;
  std::optional<http::Certificate> certificate_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> server_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::ops
