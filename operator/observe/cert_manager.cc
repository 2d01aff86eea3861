#include "operator/observe/cert_manager.h"

#include <algorithm>

#include "kube/meta/object_conditions.h"
#include "operator/decide/certificates/due.h"
#include "operator/observe/observe.h"
#include "operator/observe/slim.h"

namespace capi::ops {
namespace {

constexpr std::chrono::minutes kMayBeAway{10};

}  // namespace

CertManagerSight SightOf(const std::vector<kube::ObjectPtr>& controllers, bool in_use, WallTime now) {
  CertManagerSight sight;
  for (const kube::ObjectPtr& one : controllers) {
    if (one->deleting() || GetInt(one->json(), {"spec", "replicas"}, 1) == 0) continue;
    const auto conditions = kube::Conditions(*one);
    if (kube::IsTrue(conditions, "Available")) return {true};
    if (!in_use) continue;
    const auto* available = kube::FindCondition(conditions, "Available");
    // One that says nothing yet was just made.
    auto since = ParseTime(available != nullptr ? available->last_transition_time
                                                : GetString(one->json(), {"metadata", "creationTimestamp"}));
    if (!since.ok()) continue;
    const auto left = std::chrono::ceil<Millis>(*since + kMayBeAway - now);
    if (left > Millis(0)) sight = {true, std::max(left, sight.until.value_or(left))};
  }
  return sight;
}

bool SeesSecretsOfOneNamespace(const Settings& settings) {
  return !settings.ns.empty() && settings.certificates != Certificates::kCertManager;
}

// Deployments of any namespace: whoever installs cert-manager chooses it.
void Observer::ObserveCertificates(const Context& ctx, const std::string& key, Observation& o) {
  if (certificate_trouble_) o.certificate_trouble = certificate_trouble_(key);
  o.builtin_certificates = settings_.certificates == Certificates::kBuiltin;
  if (settings_.certificates != Certificates::kAuto) return;
  const bool in_use = std::any_of(o.inventory.entries().begin(), o.inventory.entries().end(),
                                  [](const auto& entry) { return IsCertificateRequest(entry.first); });
  const Watches::Key watch{
      Watches::Purpose::kCertManager, kube::Builtin("Deployment"), "", kCertManagerSelector, "", false};
  auto deployments = watches_.IfThere(ctx, watch, key, SlimWorkload);
  // What can't be seen changes nothing.
  if (!deployments) {
    o.builtin_certificates = !in_use;
    return;
  }
  const CertManagerSight sight = SightOf(deployments->List(), in_use, o.now);
  auto kind = watches_.mapper().Look(ctx, {"cert-manager.io", "Certificate"}, "v1");
  const bool has_kinds = kind.ok() ? kind->resource || (in_use && kind->group_is_stale) : in_use;
  o.builtin_certificates = !sight.serves || !has_kinds;
  o.cert_manager_until = sight.until;
}

}  // namespace capi::ops
