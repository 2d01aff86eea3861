// What the page keeps of a provider's last pass: its workloads, what had drifted, its certificates. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "operator/decide/observation.h"

namespace capi::ops::ui {

// Values.
struct WorkloadFact {
  kube::ObjectId id;
  bool healthy = false;
  std::string message;  // why it isn't
  std::int64_t replicas = 0, available = 0;
  bool operator==(const WorkloadFact&) const = default;
};
struct DriftFact {
  kube::ObjectId id;
  bool missing = false;
  std::string by;  // "kubectl-edit (Update)"; "" where nobody knows
  bool operator==(const DriftFact&) const = default;
};
struct CertificateFact {
  kube::ObjectId secret;
  std::string certificate, ends;  // RFC 3339
  bool operator==(const CertificateFact&) const = default;
};

// A value.
struct Facts {
  std::vector<WorkloadFact> workloads;
  std::vector<DriftFact> drifts;
  std::vector<CertificateFact> certificates;
  std::vector<std::string> pending_crds;  // not Established yet
  std::vector<std::string> fights;        // what somebody changes again and again, in words
  std::vector<std::string> releases;      // versions that lie in the cluster, ascending
  std::vector<std::string> users;         // of one that is deleted: who needs it
  bool blind = false;                     // the watch of some kind has no state: drift of it can't be told
  bool operator==(const Facts&) const = default;
};

// `hide`: takes Secrets' values out of what others wrote; not out of messages of workloads, which have none (I7).
Facts FactsOf(const Observation& o, const std::function<std::string(std::string)>& hide);

}  // namespace capi::ops::ui
