#include "operator/process_metrics.h"

#include "base/http/url.h"

namespace capi::ops {
namespace {

constexpr kube::MetricFamily kRequests{"rest_client_requests_total",
                                       "Requests to the API server, by HTTP status, method and host"};
constexpr kube::MetricFamily kDuration{"rest_client_request_duration_seconds",
                                       "How long the API server took to begin its answer, by verb and host"};
constexpr kube::MetricFamily kLead{"leader_election_master_status",
                                   "1 where this process holds the lease of that name, 0 where it waits for it"};

const kube::Buckets& RequestBuckets() {
  static const kube::Buckets buckets = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
  return buckets;
}

}  // namespace

std::function<void(const std::string& method, int status, MonoTime::duration took)> CountRequests(
    kube::Metrics& metrics, const std::string& server) {
  auto url = http::Url::Parse(server);
  const std::string host = url.ok() ? url->HostPort() : server;
  return [&metrics, host](const std::string& method, int status, MonoTime::duration took) {
    const std::string code = status == 0 ? "<error>" : std::to_string(status);
    metrics.Count(kRequests, {{"code", code}, {"host", host}, {"method", method}});
    if (status == 0) return;  // no answer began; a refused connection would count as a fast one
    metrics.Observe(kDuration, {{"host", host}, {"verb", method}}, std::chrono::duration<double>(took).count(),
                    RequestBuckets());
  };
}

std::unique_ptr<kube::MetricsLook> ShowLead(kube::Metrics& metrics, const std::string& lease,
                                            const kube::LeaderElector& elector, Clock& clock) {
  return metrics.BeforeText([&metrics, lease, &elector, &clock] {
    metrics.Set(kLead, {{"name", lease}}, elector.valid_until() > clock.Monotonic() ? 1 : 0);
  });
}

}  // namespace capi::ops
