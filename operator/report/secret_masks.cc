#include "operator/report/secret_masks.h"

#include <algorithm>

namespace capi::ops {
namespace {

void HideIn(const SecretValues& values, std::vector<std::string>& texts) {
  for (std::string& text : texts) text = values.Hide(std::move(text));
}

void HideIn(const SecretValues& values, Fleet& fleet) {
  for (Workload& workload : fleet.workloads) {
    if (!workload.health.ok()) workload.health.message = values.Hide(std::move(workload.health.message));
  }
  for (CrdState& crd : fleet.unmigrated) {
    if (Error* error = crd.migration.error ? &*crd.migration.error : nullptr) {
      error->message = values.Hide(std::move(error->message));
    }
  }
}

std::shared_ptr<const SecretValues> Unknown() {
  SecretValues values;
  values.HideAll();
  return std::make_shared<const SecretValues>(std::move(values));
}

}  // namespace

bool HasForeignWords(const Fleet& fleet) {
  return std::any_of(fleet.workloads.begin(), fleet.workloads.end(),
                     [](const Workload& workload) { return !workload.health.ok(); }) ||
         std::any_of(fleet.unmigrated.begin(), fleet.unmigrated.end(),
                     [](const CrdState& crd) { return crd.migration.error.has_value(); });
}

bool HasForeignWords(const Done& done) {
  bool lists = (done.warnings && !done.warnings->empty()) || !done.restored.empty() || !done.kept.empty();
  return done.hold || done.rollout || lists || (done.fleet && HasForeignWords(*done.fleet));
}

void SecretMasks::Put(const std::string& provider, SecretValues values) {
  auto shared = std::make_shared<const SecretValues>(std::move(values));
  MutexLock lock(mu_);
  values_[provider] = std::move(shared);
}

void SecretMasks::Drop(const std::string& provider) {
  MutexLock lock(mu_);
  values_.erase(provider);
}

bool SecretMasks::Knows(const std::string& provider) const {
  MutexLock lock(mu_);
  return values_.contains(provider);
}

std::shared_ptr<const SecretValues> SecretMasks::Of(const std::string& provider) const {
  static const std::shared_ptr<const SecretValues> kUnknown = Unknown();
  MutexLock lock(mu_);
  auto it = values_.find(provider);
  return it == values_.end() ? kUnknown : it->second;
}

std::string SecretMasks::Hide(const std::string& provider, std::string text) const {
  return Of(provider)->Hide(std::move(text));
}

void SecretMasks::Hide(const std::string& provider, Fleet& fleet) const { HideIn(*Of(provider), fleet); }

void SecretMasks::Hide(const std::string& provider, Observation& o, Done& done) const {
  auto values = Of(provider);
  HideIn(*values, o.fleet);
  if (done.fleet) HideIn(*values, *done.fleet);
  if (done.hold) done.hold->message = values->Hide(std::move(done.hold->message));
  if (done.rollout) done.rollout->message = values->Hide(std::move(done.rollout->message));
  if (done.warnings) HideIn(*values, *done.warnings);
  HideIn(*values, done.restored);
  HideIn(*values, done.kept);
}

api::ProviderStatus SecretMasks::Hide(const std::string& provider, api::ProviderStatus status) const {
  auto values = Of(provider);
  for (kube::Condition& condition : status.conditions) {
    condition.message = values->HideKnown(std::move(condition.message));
  }
  for (api::HistoryEntry& entry : status.history) entry.message = values->HideKnown(std::move(entry.message));
  return status;
}

}  // namespace capi::ops
