// Carries out a Restore: applies again what somebody changed or deleted, and nothing else (behaviour.md D1).
#pragma once

#include "operator/act/release_applier.h"
#include "operator/act/rendered_cache.h"
#include "operator/decide/decide.h"
#include "operator/observe/observe.h"
#include "operator/report/summarize.h"

namespace capi::ops {

// Thread-safe.
class Restorer {
 public:
  struct Needs {
    kube::Client& client;
    Observer& observer;
    const RenderedCache& rendered;
    Fights& fights;
    Certifier* certifier = nullptr;  // as ReleaseApplier takes it
  };
  explicit Restorer(Needs needs);

  // Of one object, one request. Where the object's replicas are somebody else's, they are left alone.
  Done Run(const Context& ctx, const Observation& o, const Restore& step);

 private:
  Status Send(const Context& ctx, const api::ProviderId& provider, const std::vector<kube::Manifest>& manifests,
              const kube::Inventory& inventory, std::vector<kube::Change>& changes, PhaseTimes& times);

  Needs needs_;
  ReleaseApplier applier_;
};

// True where replicas of the workload are set through the scale subresource, and the provider doesn't declare them.
bool IsAutoscaled(const Observation& o, const kube::ObjectId& id);

// Of a drift of what the release doesn't have (a CRD that stays), so that there is nothing to restore it from: what is
// gone leaves the inventory, what was changed counts as it is now. One that the inventory doesn't have changes nothing.
void AcceptDrift(const Drift& drift, kube::Inventory& inventory);

// Takes spec.replicas out of the manifests of autoscaled workloads.
void LeaveReplicas(const Observation& o, std::vector<kube::Manifest>& manifests);

}  // namespace capi::ops
