// For tests: a provider that a policy (behaviour.md U13) has moved once.
#pragma once

#include <string>
#include <vector>

#include "api/moves/upgrade_policy.h"
#include "operator/decide/decide.h"
#include "operator/decide/rollout.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops::testing {

inline constexpr auto kPatch = api::UpgradeType::kPatch, kMinor = api::UpgradeType::kMinor;
inline constexpr Millis kHour = std::chrono::hours(1);

inline api::HistoryEntry Entry(const char* version, const char* outcome, const char* instead_of = "") {
  api::HistoryEntry entry{version, "v1beta2", "sha256:1"};
  entry.outcome = outcome;
  entry.instead_of = instead_of;
  return entry;
}

inline void Store(Observation& o, const char* version) {
  o.releases.push_back({"aws-system", std::string("infrastructure-aws-") + version, version,
                        *api::Version::Parse(version), std::string("uid-") + version + "/1"});
}

// As the cache and a look at the history leave it.
inline void Settle(Observation& o) {
  o.provider.spec.version = api::VersionToRun(o.declared_version, o.provider.status, o.provider.annotations);
}

// spec.version v1.12.0, and v1.12.1 runs by the policy; more is known.
inline Observation Moved(api::UpgradeType type = kPatch) {
  Observation o = Observed();
  o.check_updates = 12 * kHour;
  o.source = "url https://example.org/aws";
  o.provider.spec.upgrade_policy.type = type;
  o.declared_version = "v1.12.0";
  api::ProviderStatus& status = o.provider.status;
  status.installed_version = "v1.12.1";
  status.contract = "v1beta2";
  status.conditions = {{"Ready", "True", "WorkloadsReady", "", 1, ""}};
  status.history = {Entry("v1.12.1", "Succeeded", "v1.12.0"), Entry("v1.12.0", "Succeeded")};
  status.available_upgrades = {{"v1.12.3", "v1beta2"}, {"v1.13.0", "v1beta2"}, {"v2.0.0", "v1beta2"}};
  Settle(o);
  Store(o, "v1.12.1");
  status.applied = InputsDigest(o);
  status.history.front().inputs = status.applied;
  return o;
}

// And it has begun v1.12.2 from there, of which that came so far. No newer version is known.
inline Observation Begun(const char* outcome, const char* instead_of = "v1.12.0") {
  Observation o = Moved();
  auto& status = o.provider.status;
  status.available_upgrades.clear();
  Store(o, "v1.12.2");
  status.history.insert(status.history.begin(), Entry("v1.12.2", outcome, instead_of));
  if (*instead_of == '\0') o.declared_version = "v1.12.2";
  Settle(o);
  status.history.front().inputs = InputsDigest(o);
  return o;
}

// All of it is sent, and its pods don't come up.
inline Observation Left() {
  Observation o = Begun("Failed");
  auto& status = o.provider.status;
  status.installed_version = "v1.12.2";
  status.applied = status.history.front().inputs;
  status.conditions[0].status = "False";
  o.fleet.workloads = {NewWorkload(kube::HealthState::kFailed)};
  return o;
}

// A version that fails again and again, each time with other inputs.
inline void FailOften(std::vector<api::HistoryEntry>& history, const char* version, const char* instead_of = "") {
  for (int i = 0; i < 30; ++i) {
    api::HistoryEntry failed = Entry(version, "Failed", instead_of);
    failed.inputs = "inputs " + std::to_string(i);
    PutEntry(history, failed);
  }
}

inline std::string Chosen(const Observation& o) {
  const Step step = Decide(o);
  const auto* upgrade = std::get_if<Upgrade>(&step);
  return upgrade == nullptr ? "" : upgrade->version;
}

}  // namespace capi::ops::testing
