// What is measured of the process, under the names that dashboards for controllers ask for.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kube/client/client.h"
#include "kube/runtime/leader.h"
#include "kube/runtime/metrics.h"

namespace capi::ops {

// ClientOptions::on_answer: rest_client_requests_total as client-go counts them, and of those that were answered
// rest_client_request_duration_seconds, with the host of `server`, a URL. (client-go measures the others, too: in an
// outage refused connections make its quantiles small.) `metrics` outlives it.
std::function<void(const std::string& method, int status, MonoTime::duration took)> CountRequests(
    kube::Metrics& metrics, const std::string& server);

// leader_election_master_status of the lease: 1 while it is surely ours. What is returned goes before all of these.
std::unique_ptr<kube::MetricsLook> ShowLead(kube::Metrics& metrics, const std::string& lease,
                                            const kube::LeaderElector& elector, Clock& clock);

}  // namespace capi::ops
