// What the operator serves: probes and metrics.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/http/server/server.h"
#include "kube/client/client.h"
#include "kube/runtime/metrics.h"

namespace capi::ops {

// /healthz and /readyz. Readiness is `ready()`.
Result<std::unique_ptr<http::Server>> ServeHealth(const std::string& address, std::function<bool()> ready);

// /metrics. On a loopback address, or `insecure`: plain HTTP. Else HTTPS with a certificate made at start, for callers
// whose token may "get" the path /metrics (TokenReview and SubjectAccessReview, behaviour.md T5); `log` hears where
// nobody can tell.
Result<std::unique_ptr<http::Server>> ServeMetrics(const std::string& address, bool insecure, kube::Client& client,
                                                   const kube::Metrics& metrics, Logger log);

bool IsLoopback(const std::string& address);

}  // namespace capi::ops
