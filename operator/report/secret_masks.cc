#include "operator/report/secret_masks.h"

namespace capi::ops {
namespace {

void HideIn(const SecretValues& values, std::vector<std::string>& texts) {
  for (std::string& text : texts) text = values.Hide(std::move(text));
}

// What a pod says of itself is in the health of its workload.
void HideIn(const SecretValues& values, Fleet& fleet) {
  for (Workload& workload : fleet.workloads) workload.health.message = values.Hide(std::move(workload.health.message));
  for (CrdState& crd : fleet.unmigrated) {
    if (Error* error = crd.migration.error ? &*crd.migration.error : nullptr) {
      error->message = values.Hide(std::move(error->message));
    }
  }
}

}  // namespace

void SecretMasks::Put(const std::string& provider, SecretValues values) {
  auto shared = std::make_shared<const SecretValues>(std::move(values));
  MutexLock lock(mu_);
  values_[provider] = std::move(shared);
}

void SecretMasks::Drop(const std::string& provider) {
  MutexLock lock(mu_);
  values_.erase(provider);
}

std::shared_ptr<const SecretValues> SecretMasks::Of(const std::string& provider) const {
  MutexLock lock(mu_);
  auto it = values_.find(provider);
  return it == values_.end() ? nullptr : it->second;
}

std::string SecretMasks::Hide(const std::string& provider, std::string text) const {
  auto values = Of(provider);
  return values ? values->Hide(std::move(text)) : text;
}

void SecretMasks::Hide(const std::string& provider, Observation& o, Done& done) const {
  auto values = Of(provider);
  if (!values) return;
  HideIn(*values, o.fleet);
  if (done.fleet) HideIn(*values, *done.fleet);
  if (done.hold) done.hold->message = values->Hide(std::move(done.hold->message));
  if (done.rollout) done.rollout->message = values->Hide(std::move(done.rollout->message));
  if (done.warnings) HideIn(*values, *done.warnings);
  HideIn(*values, done.restored);
  HideIn(*values, done.kept);
}

}  // namespace capi::ops
