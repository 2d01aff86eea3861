// What the operator serves: probes, metrics, and the verbosity of its log.
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

// GET /metrics, and PUT /debug/flags/v, which sets the verbosity of `log` as it does with Kubernetes' own programs. On
// a loopback address, or `insecure`: plain HTTP. Else HTTPS with a certificate made at start, for callers whose token
// may "get" the one path or "put" the other (TokenReview and SubjectAccessReview, behaviour.md T5); `log` hears where
// nobody can tell. `insecure` lets everybody read, and nobody set but by
// loopback.
Result<std::unique_ptr<http::Server>> ServeDiagnostics(const std::string& address, bool insecure, kube::Client& client,
                                                       const kube::Metrics& metrics, Logger log);

bool IsLoopback(const std::string& address);

}  // namespace capi::ops
