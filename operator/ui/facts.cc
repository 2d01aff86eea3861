#include "operator/ui/facts.h"

#include <algorithm>

#include "api/version.h"

namespace capi::ops::ui {
namespace {

std::vector<std::string> VersionsOf(std::vector<StoredRelease> releases) {
  std::erase_if(releases, [](const StoredRelease& one) { return !one.version; });
  std::sort(releases.begin(), releases.end(), [](const auto& a, const auto& b) { return *a.version < *b.version; });
  std::vector<std::string> out;
  for (const StoredRelease& one : releases) {
    if (out.empty() || out.back() != one.version_text) out.push_back(one.version_text);
  }
  return out;
}

}  // namespace

Facts FactsOf(const Observation& o, const std::function<std::string(std::string)>& hide) {
  Facts out;
  for (const Workload& w : o.fleet.workloads) {
    out.workloads.push_back({w.id, w.health.ok(), w.health.ok() ? "" : w.health.message, w.replicas, w.available});
  }
  for (const Drift& drift : o.fleet.drifts) out.drifts.push_back({drift.id, drift.missing, hide(drift.trace.by)});
  for (const CertificateSeen& seen : o.fleet.certificates) {
    out.certificates.push_back({seen.id, seen.state.certificate, FormatTime(seen.state.ends)});
  }
  for (const Fight& fight : o.fights) out.fights.push_back(hide(fight.what));
  out.pending_crds = o.fleet.pending_crds;
  out.releases = VersionsOf(o.releases);
  out.users = o.users;
  out.blind = o.fleet.blind;
  return out;
}

}  // namespace capi::ops::ui
