#include "operator/report/secret_masks.h"

#include <algorithm>

#include "operator/decide/upgrades/updates.h"

namespace capi::ops {
namespace {

void HideIn(const SecretValues& values, std::vector<std::string>& texts) {
  for (std::string& text : texts) text = values.Hide(std::move(text));
}

void HideIn(const SecretValues& values, UpdatesFound& updates) {
  if (updates.error) updates.error->message = values.Hide(std::move(updates.error->message));
  for (api::AvailableUpgrade& one : updates.newer) one.needs = values.Hide(std::move(one.needs));
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

bool HasForeignWords(const Observation& o) {
  const bool of_source = IsUntold(o.updates, o.provider.status) &&
                         (o.updates->error || !std::all_of(o.updates->newer.begin(), o.updates->newer.end(), WasRead));
  return HasForeignWords(o.fleet) || !o.fights.empty() || of_source;
}

bool HasForeignWords(const Done& done) {
  bool lists = (done.warnings && !done.warnings->empty()) || !done.restored.empty() || !done.kept.empty();
  return done.hold || done.withdrawn || done.rollout || lists || (done.fleet && HasForeignWords(*done.fleet));
}

void SecretMasks::Merge(Known& known, const SecretValues& values) {
  if (known.values->Has(values)) return;
  SecretValues all = *known.values;
  all.Add(values);
  known.values = std::make_shared<const SecretValues>(std::move(all));
}

void SecretMasks::Put(const std::string& provider, const SecretValues& values) {
  MutexLock lock(mu_);
  Known& known = known_[provider];
  Merge(known, values);
  known.all = true;
}

void SecretMasks::Add(const std::string& provider, const SecretValues& values) {
  MutexLock lock(mu_);
  Merge(known_[provider], values);
}

void SecretMasks::ApplyBegins(const std::string& provider, std::shared_ptr<const SecretValues> values) {
  MutexLock lock(mu_);
  Known& known = known_[provider];
  known.to_be_applied = std::move(values);
  known.sent = false;
}

void SecretMasks::ApplyEnds(const std::string& provider) {
  MutexLock lock(mu_);
  Known& known = known_[provider];
  if (known.to_be_applied != nullptr) known.all = known.sent = true;
}

void SecretMasks::RolloutEnds(const std::string& provider) {
  MutexLock lock(mu_);
  auto it = known_.find(provider);
  if (it != known_.end() && it->second.sent) it->second = {std::move(it->second.to_be_applied), true};
}

void SecretMasks::Drop(const std::string& provider) {
  MutexLock lock(mu_);
  known_.erase(provider);
}

bool SecretMasks::Knows(const std::string& provider) const {
  MutexLock lock(mu_);
  auto it = known_.find(provider);
  return it != known_.end() && it->second.all;
}

SecretMasks::Shared SecretMasks::ToHide(const std::string& provider) const {
  static const Shared kUnknown = Unknown();
  return Knows(provider) ? KnownOf(provider) : kUnknown;
}

SecretMasks::Shared SecretMasks::KnownOf(const std::string& provider) const {
  static const Shared kNone = std::make_shared<const SecretValues>();
  MutexLock lock(mu_);
  auto it = known_.find(provider);
  return it == known_.end() ? kNone : it->second.values;
}

std::string SecretMasks::Hide(const std::string& provider, std::string text) const {
  return ToHide(provider)->Hide(std::move(text));
}

void SecretMasks::Hide(const std::string& provider, Fleet& fleet) const { HideIn(*ToHide(provider), fleet); }

void SecretMasks::Hide(const std::string& provider, Observation& o, Done& done) const {
  auto values = ToHide(provider);
  HideIn(*values, o.fleet);
  for (Fight& fight : o.fights) fight.what = values->Hide(std::move(fight.what));
  if (o.updates) HideIn(*values, *o.updates);
  if (done.fleet) HideIn(*values, *done.fleet);
  if (done.hold) {
    done.hold->message = values->Hide(std::move(done.hold->message));
    // Made of kinds, verbs and names of a release whose values are known: nothing else repeats any of them there.
    done.hold->details = KnownOf(provider)->HideKnown(std::move(done.hold->details));
  }
  if (done.withdrawn) {
    done.withdrawn->message = values->Hide(std::move(done.withdrawn->message));
    done.withdrawn->details = KnownOf(provider)->HideKnown(std::move(done.withdrawn->details));
  }
  if (done.rollout) done.rollout->message = values->Hide(std::move(done.rollout->message));
  if (done.warnings) HideIn(*values, *done.warnings);
  HideIn(*values, done.restored);
  HideIn(*values, done.kept);
}

api::ProviderStatus SecretMasks::Hide(const std::string& provider, api::ProviderStatus status) const {
  auto values = KnownOf(provider);
  for (kube::Condition& condition : status.conditions) {
    condition.message = values->HideKnown(std::move(condition.message));
  }
  for (api::AvailableUpgrade& one : status.available_upgrades) {
    if (one.refused) one.refused->message = values->HideKnown(std::move(one.refused->message));
  }
  for (api::HistoryEntry& entry : status.history) entry.message = values->HideKnown(std::move(entry.message));
  return status;
}

}  // namespace capi::ops
