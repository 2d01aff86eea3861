// Is a workload healthy? By the kstatus rules (sigs.k8s.io/cli-utils), from the object alone. Pure.
#pragma once

#include <string>

#include "kube/meta/object.h"

namespace capi::kube {

enum class HealthState { kCurrent, kInProgress, kFailed, kTerminating };

struct Health {
  HealthState state = HealthState::kInProgress;
  std::string message;  // "0 of 1 replicas are available"
  bool ok() const { return state == HealthState::kCurrent; }
};

// Deployment, StatefulSet, DaemonSet, Job, Pod, ReplicaSet, PersistentVolumeClaim, CustomResourceDefinition,
// APIService, Service; anything else by its Ready, Reconciling and Stalled conditions and observedGeneration.
Health HealthOf(const Object& object);

}  // namespace capi::kube
