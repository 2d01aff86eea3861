#include "operator/report/provider_metrics.h"

#include <utility>

#include "api/reasons.h"
#include "operator/decide/pause.h"

namespace capi::ops {
namespace {

constexpr kube::MetricFamily kReady{"capi_operator_provider_ready", "Whether the provider's Ready condition is True."};
constexpr kube::MetricFamily kStalled{"capi_operator_provider_stalled",
                                      "Whether the provider's Stalled condition is True: it needs a change to go on."};
constexpr kube::MetricFamily kPaused{"capi_operator_provider_paused",
                                     "Whether the provider is to be paused, by its spec or by an annotation."};
constexpr kube::MetricFamily kInfo{"capi_operator_provider_info",
                                   "1: the version that is installed, its contract, and the newest version "
                                   "that is known and fits."};
constexpr kube::MetricFamily kUpgrades{"capi_operator_provider_available_upgrades",
                                       "Newer versions that are known, of each minor version the newest."};
constexpr kube::MetricFamily kRestored{
    "capi_operator_provider_drift_corrected_total",
    "Objects that somebody had changed or deleted, and that are as they were applied again."};
constexpr kube::MetricFamily kTime{
    "capi_operator_provider_phase_duration_seconds",
    "How long a look at the provider took (reconcile), and in it reading or fetching its release (fetch), rendering it "
    "(render) and applying it (apply)."};

constexpr std::pair<Phase, const char*> kPhases[] = {
    {Phase::kReconcile, "reconcile"}, {Phase::kFetch, "fetch"}, {Phase::kRender, "render"}, {Phase::kApply, "apply"}};

// Few: each provider has them four times.
const kube::Buckets& PhaseBuckets() {
  static const kube::Buckets buckets = {0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60};
  return buckets;
}

kube::Labels LabelsOf(const api::ProviderId& id) {
  return {{"kind", std::string(api::KindOf(id.type).kind)}, {"namespace", id.ns}, {"name", id.name}};
}

kube::Labels With(kube::Labels labels, const std::string& name, const std::string& value) {
  labels[name] = value;
  return labels;
}

double Is(const api::ProviderStatus& status, std::string_view type) { return kube::IsTrue(status.conditions, type); }

// One that is to run again, and that the contract rules still hold at zero, says Paused=True as well.
bool IsPausedByUser(const api::Provider& provider) { return provider.spec.paused || IsHandsOff(provider); }

}  // namespace

void ProviderMetrics::Show(const api::Provider& provider, const api::ProviderStatus& status) {
  const kube::Labels labels = LabelsOf(provider.id);
  metrics_.Set(kReady, labels, Is(status, api::condition::kReady));
  metrics_.Set(kStalled, labels, Is(status, api::condition::kStalled));
  metrics_.Set(kPaused, labels, IsPausedByUser(provider) ? 1 : 0);
  metrics_.Set(kUpgrades, labels, static_cast<double>(status.available_upgrades.size()));
  metrics_.Count(kRestored, labels, 0);
  ShowInfo(provider.id, status);
}

void ProviderMetrics::ShowInfo(const api::ProviderId& id, const api::ProviderStatus& status) {
  kube::Labels labels = With(LabelsOf(id), "version", status.installed_version);
  labels["contract"] = status.contract;
  MutexLock lock(mu_);
  auto newest = newest_.find(id.Key());
  labels["latest"] = newest == newest_.end() ? "" : newest->second;
  Replace(info_[id.Key()], std::move(labels));
}

void ProviderMetrics::Replace(kube::Labels& shown, kube::Labels labels) {
  if (shown == labels) return;
  if (!shown.empty()) metrics_.Remove(kInfo, shown);
  metrics_.Set(kInfo, labels, 1);
  shown = std::move(labels);
}

void ProviderMetrics::Knows(const api::ProviderId& id, const std::string& newest) {
  MutexLock lock(mu_);
  newest_[id.Key()] = newest;
  auto shown = info_.find(id.Key());
  if (shown != info_.end()) Replace(shown->second, With(shown->second, "latest", newest));
}

void ProviderMetrics::Took(const api::ProviderId& id, const PhaseTimes& times) {
  for (const auto& [phase, name] : kPhases) {
    auto took = times.find(phase);
    if (took == times.end()) continue;
    metrics_.Observe(kTime, With(LabelsOf(id), "phase", name), std::chrono::duration<double>(took->second).count(),
                     PhaseBuckets());
  }
}

void ProviderMetrics::Restored(const api::ProviderId& id, size_t objects) {
  if (objects > 0) metrics_.Count(kRestored, LabelsOf(id), static_cast<double>(objects));
}

void ProviderMetrics::Forget(const api::ProviderId& id) {
  const kube::Labels labels = LabelsOf(id);
  for (const kube::MetricFamily& family : {kReady, kStalled, kPaused, kUpgrades, kRestored})
    metrics_.Remove(family, labels);
  for (const auto& [phase, name] : kPhases) metrics_.Remove(kTime, With(labels, "phase", name));
  MutexLock lock(mu_);
  newest_.erase(id.Key());
  auto shown = info_.find(id.Key());
  if (shown == info_.end()) return;
  metrics_.Remove(kInfo, shown->second);
  info_.erase(shown);
}

}  // namespace capi::ops
