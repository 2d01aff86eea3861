// Which Pods of a Deployment come and go next, as its controller decides it on a cluster (behaviour.md G4). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kube/meta/object.h"

namespace capi::local {

inline constexpr char kHashLabel[] = "pod-template-hash";

// Of spec.template, for the label of its Pods: ten hexadecimal digits.
std::string TemplateHash(const kube::Object& deployment);

// A Pod as far as a rollout asks. A value.
struct PodState {
  std::string name, uid;
  bool current = false;  // of the template as it is now
  bool ready = false;
  bool available = false;  // ready for spec.minReadySeconds
  bool ends = false;       // it is being deleted
  std::string created;     // RFC 3339
};

// `hash` of the Deployment's template; `again`: when a Pod becomes available without any other change, left alone where
// that is sooner.
PodState StateOf(const kube::Object& pod, const std::string& hash, Seconds min_ready, WallTime now, WallTime& again);

struct RolloutSpec {
  std::int64_t replicas = 1;
  bool recreate = false;
  std::int64_t max_surge = 1, max_unavailable = 0;  // of Pods; not both 0
  bool paused = false;
};
// With the defaults of Kubernetes. `alone`: no two processes of it may run, whatever its strategy is.
RolloutSpec RolloutSpecOf(const kube::Object& deployment, bool alone);

struct Rollout {
  std::int64_t create = 0;
  std::vector<PodState> remove;
};
Rollout NextOfRollout(const RolloutSpec& spec, const std::vector<PodState>& pods);

}  // namespace capi::local
