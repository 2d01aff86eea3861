// spec.paused as replicas: what goes to zero and what comes back, from an Observation alone (behaviour.md P1, P2).
// Pure.
//
// A pause is two fields of a live workload (lifecycle/plan/scale.h), so it needs no render.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lifecycle/plan/scale.h"
#include "operator/decide/decide.h"
#include "operator/decide/observation.h"

namespace capi::ops {

using lifecycle::Claim;
using lifecycle::ClaimToReturn;
using lifecycle::HasReplicas;
using lifecycle::ScaleDownPatch;
using lifecycle::ScaleUpPatch;

// Nothing of it is to be written (P4).
bool IsHandsOff(const api::Provider& provider);
// What is applied to this provider is applied at zero replicas: it is paused, or may not be unpaused yet.
bool AppliesAtZero(const Observation& o);
// Its status says that nothing of it runs: others rely on it (C3), so it is taken back before the first pod comes.
bool SaysPaused(const api::ProviderStatus& status);

// Live workloads that a pause still has to scale, and those that it scaled.
std::vector<kube::ObjectId> ToScaleDown(const Observation& o);
std::vector<kube::ObjectId> ToScaleUp(const Observation& o);
// What a pause that begins or ends asks for (P1, C5); nullopt for nothing. It must work where no render is possible, so
// it comes before everything that could stop a pass.
std::optional<Step> DecidePause(const Observation& o);
// Workloads of which pods are left, in words; "" for none. Where nothing ran before (`said_paused`), what is applied at
// zero replicas starts nothing, so it counts only when pods are seen.
std::string StillRunning(const Fleet& fleet, bool said_paused);

std::optional<int> DeclaredReplicas(const Observation& o, const kube::ObjectId& id);

// The same in an object on its way to the cluster; the former count is the live one's where it has one.
void ZeroReplicas(const Observation& o, kube::Object& object);

}  // namespace capi::ops
