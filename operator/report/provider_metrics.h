// What is measured of each provider. A provider has some fifty series, which go with it.
#pragma once

#include <map>
#include <string>

#include "api/types.h"
#include "base/mutex.h"
#include "kube/runtime/metrics.h"
#include "operator/report/phases.h"

namespace capi::ops {

// Thread-safe. `metrics` outlives it.
class ProviderMetrics {
 public:
  explicit ProviderMetrics(kube::Metrics& metrics) : metrics_(metrics) {}

  // What is installed, and whether it is Ready, Stalled or paused; and the counter of drift from its start.
  void Show(const api::Provider& provider, const api::ProviderStatus& status);
  // The newest version of it that is known and fits; "" for none.
  void Knows(const api::ProviderId& id, const std::string& newest) CAPI_EXCLUDES(mu_);
  void Took(const api::ProviderId& id, const PhaseTimes& times);
  // So many objects had drifted and are as they were applied (D1).
  void Restored(const api::ProviderId& id, size_t objects);
  void Forget(const api::ProviderId& id) CAPI_EXCLUDES(mu_);

 private:
  void ShowInfo(const api::ProviderId& id, const api::ProviderStatus& status) CAPI_EXCLUDES(mu_);
  void Replace(kube::Labels& shown, kube::Labels labels) CAPI_REQUIRES(mu_);

  kube::Metrics& metrics_;
  Mutex mu_;
  std::map<std::string, kube::Labels> info_ CAPI_GUARDED_BY(mu_);  // by key: what is shown of it
  std::map<std::string, std::string> newest_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::ops
