// A provider on its way from one version to another, for the tests of what becomes of a rollout.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "operator/decide/rollout.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops::testing {

inline api::HistoryEntry Entry(std::string version, std::string_view how, std::string inputs = "") {
  api::HistoryEntry entry{std::move(version), "v1beta2", "sha256:1", "2027-01-15T07:00:00Z"};
  entry.outcome = how;
  entry.inputs = std::move(inputs);
  return entry;
}

// "aws" on its way from v1.11.0 to v1.12.0, for a minute of ten, with a Deployment that isn't healthy.
inline Observation Upgrading(std::string_view how = api::outcome::kRollingOut) {
  Observation o = Observed();
  StoredRelease old = o.releases.front();
  old.version_text = "v1.11.0";
  old.version = *api::Version::Parse("v1.11.0");
  o.releases.push_back(old);
  api::HistoryEntry now = Entry("v1.12.0", how, InputsDigest(o));
  now.started = FormatTime(o.now - Seconds(60));
  if (how != api::outcome::kRollingOut && how != api::outcome::kApplying) now.message = "the pods crash";
  o.provider.status.history = {now, Entry("v1.11.0", api::outcome::kSucceeded, "old")};
  o.provider.status.installed_version = "v1.11.0";
  o.fleet.workloads = {NewWorkload(kube::HealthState::kInProgress, "0 of 1 replicas are available")};
  return o;
}

inline std::string Name(const std::optional<Step>& step) {
  if (!step) return "go on";
  if (const auto* hold = std::get_if<Hold>(&*step)) return "hold " + hold->reason;
  if (const auto* install = std::get_if<Install>(&*step)) return "install " + install->rollback_to;
  if (std::holds_alternative<Await>(*step)) return "await";
  if (std::holds_alternative<GiveUp>(*step)) return "give up";
  return std::holds_alternative<Prune>(*step) ? "prune" : "?";
}

}  // namespace capi::ops::testing
