#include "operator/decide/pause.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/reasons.h"
#include "base/strings.h"
#include "operator/decide/contract_rules.h"
#include "templating/customise/customise.h"

namespace capi::ops {
namespace {

const Workload* Find(const Fleet& fleet, const kube::ObjectId& id) {
  for (const Workload& workload : fleet.workloads) {
    if (workload.id == id) return &workload;
  }
  return nullptr;
}

std::vector<kube::ObjectId> Select(const Observation& o, bool (*wanted)(const Workload&)) {
  std::vector<kube::ObjectId> ids;
  for (const Workload& workload : o.fleet.workloads) {
    if (!HasReplicas(workload.id) || !workload.exists || workload.awaited) continue;
    if (wanted(workload)) ids.push_back(workload.id);
  }
  return ids;
}

}  // namespace

bool IsHandsOff(const api::Provider& provider) {
  return provider.annotations.contains(std::string(api::kAnnotationPaused));
}

bool SaysPaused(const api::ProviderStatus& status) {
  const auto* paused = kube::FindCondition(status.conditions, api::condition::kPaused);
  return paused != nullptr && paused->status == "True" && paused->reason == api::reason::kPaused;
}

// The condition is False from before the first pod comes back; where it is lost, the annotation tells.
bool AppliesAtZero(const Observation& o) {
  if (o.provider.spec.paused || SaysPaused(o.provider.status)) return true;
  const auto* paused = kube::FindCondition(o.provider.status.conditions, api::condition::kPaused);
  if (paused != nullptr && paused->status == "False") return false;
  return !ToScaleUp(o).empty();
}

std::vector<kube::ObjectId> ToScaleDown(const Observation& o) {
  return Select(o, [](const Workload& w) { return w.replicas != 0 || !w.former; });
}

std::vector<kube::ObjectId> ToScaleUp(const Observation& o) {
  return Select(o, [](const Workload& w) { return w.former.has_value(); });
}

std::optional<Step> DecidePause(const Observation& o) {
  if (o.spec_error) return std::nullopt;  // whether it is to be paused isn't known
  if (o.former) return std::nullopt;      // nor is it ours to scale (A2)
  if (o.provider.spec.paused) {
    auto running = ToScaleDown(o);
    return running.empty() ? std::nullopt : std::optional<Step>(Scale{running, false});
  }
  auto paused = ToScaleUp(o);
  // Also where nothing is to be scaled: its workloads were deleted meanwhile.
  bool says = SaysPaused(o.provider.status);
  // Whose status is lost has no contract that it could be judged by (C5): it is installed at zero first.
  if ((paused.empty() && !says) || o.left_behind || StaysAtZero(o)) return std::nullopt;
  if (says || !o.provider.status.applied.empty()) return Unpause{};
  return Scale{paused, true};
}

std::string StillRunning(const Fleet& fleet, bool said_paused) {
  std::vector<std::string> running;
  for (const Workload& w : fleet.workloads) {
    bool none = said_paused ? w.idle : w.at_zero;
    if (HasReplicas(w.id) && w.exists && !none) running.push_back(w.id.kind + " " + w.id.name);
  }
  return JoinNames(running, 5);
}

std::optional<int> DeclaredReplicas(const Observation& o, const kube::ObjectId& id) {
  if (id.kind != "Deployment") return std::nullopt;
  auto deployments = std::count_if(o.fleet.workloads.begin(), o.fleet.workloads.end(),
                                   [](const Workload& w) { return w.id.kind == "Deployment"; });
  const api::DeploymentSpec* spec = templating::DeploymentSpecOf(o.provider.spec, id.name, deployments == 1);
  return spec == nullptr ? std::nullopt : spec->replicas;
}

void ZeroReplicas(const Observation& o, kube::Object& object) {
  const kube::ObjectId id = object.id();
  if (!HasReplicas(id)) return;
  std::string former = std::to_string(lifecycle::Replicas(object));
  if (const Workload* live = Find(o.fleet, id); live != nullptr && live->exists) {
    former = live->former.value_or(std::to_string(live->replicas));
    if (!live->scaled_by.empty())
      Ensure(object.json(), {"metadata", "annotations", lifecycle::kAnnotationScaledBy}) = live->scaled_by;
  }
  Ensure(object.json(), {"spec", "replicas"}) = 0;
  Ensure(object.json(), {"metadata", "annotations", api::kAnnotationOriginalReplicas}) = former;
}

}  // namespace capi::ops
