#include "kube/meta/health.h"

#include <fmt/core.h>

#include "kube/meta/object_conditions.h"

namespace capi::kube {
namespace {

Health Current(std::string message) { return {HealthState::kCurrent, std::move(message)}; }
Health InProgress(std::string message) { return {HealthState::kInProgress, std::move(message)}; }
Health Failed(std::string message) { return {HealthState::kFailed, std::move(message)}; }

std::string Say(const Condition& c) {
  if (c.message.empty()) return c.reason.empty() ? c.type + " is " + c.status : c.reason;
  return c.reason.empty() ? c.message : c.reason + ": " + c.message;
}

std::int64_t StatusInt(const Object& o, std::string_view field, std::int64_t fallback = 0) {
  return GetInt(o.json(), {"status", field}, fallback);
}

std::string Count(std::int64_t have, std::int64_t want, std::string_view what) {
  return fmt::format("{} of {} replicas are {}", have, want, what);
}

// The built-in controllers always set observedGeneration; without it they haven't seen the object.
bool Unseen(const Object& o) { return Find(o.json(), {"status", "observedGeneration"}) == nullptr; }
Health NotSeenYet() { return InProgress("its controller hasn't seen it yet"); }

Health Deployment(const Object& o) {
  if (Unseen(o)) return NotSeenYet();
  auto conditions = Conditions(o);
  const Condition* progressing = FindCondition(conditions, "Progressing");
  if (progressing != nullptr && progressing->reason == "ProgressDeadlineExceeded") return Failed(Say(*progressing));

  std::int64_t want = GetInt(o.json(), {"spec", "replicas"}, 1);
  std::int64_t have = StatusInt(o, "replicas");
  std::int64_t updated = StatusInt(o, "updatedReplicas");
  std::int64_t available = StatusInt(o, "availableReplicas");
  if (have < want) return InProgress(Count(have, want, "there"));
  if (updated < want) return InProgress(Count(updated, want, "updated"));
  if (have > updated) return InProgress(fmt::format("{} old replicas are going", have - updated));
  if (have > want) return InProgress(fmt::format("{} replicas too many are going", have - want));
  if (available < updated) return InProgress(Count(available, want, "available"));
  if (StatusInt(o, "readyReplicas") < want) return InProgress(Count(StatusInt(o, "readyReplicas"), want, "ready"));
  if (!IsTrue(conditions, "Available")) return InProgress("it is not Available");

  // Without a deadline (2^31-1 means none) the controller keeps no Progressing condition.
  std::int64_t deadline = GetInt(o.json(), {"spec", "progressDeadlineSeconds"}, 0);
  bool has_deadline = deadline > 0 && deadline != 2147483647;
  bool done =
      progressing != nullptr && progressing->status == "True" && progressing->reason == "NewReplicaSetAvailable";
  if (has_deadline && !done) return InProgress("its new ReplicaSet is not available");
  return Current(Count(available, want, "available"));
}

Health StatefulSet(const Object& o) {
  if (Unseen(o)) return NotSeenYet();
  if (GetString(o.json(), {"spec", "updateStrategy", "type"}) == "OnDelete") return Current("updates on delete");
  std::int64_t want = GetInt(o.json(), {"spec", "replicas"}, 1);
  std::int64_t have = StatusInt(o, "replicas");
  std::int64_t ready = StatusInt(o, "readyReplicas");
  std::int64_t updated = StatusInt(o, "updatedReplicas");
  std::int64_t partition = GetInt(o.json(), {"spec", "updateStrategy", "rollingUpdate", "partition"}, 0);
  if (have < want) return InProgress(Count(have, want, "there"));
  if (ready < want) return InProgress(Count(ready, want, "ready"));
  if (have > want) return InProgress(fmt::format("{} replicas too many are going", have - want));
  if (partition > 0) {
    if (updated < want - partition) return InProgress(Count(updated, want - partition, "updated"));
    return Current(Count(ready, want, "ready"));
  }
  if (GetString(o.json(), {"status", "currentRevision"}) != GetString(o.json(), {"status", "updateRevision"})) {
    return InProgress(Count(updated, want, "updated"));
  }
  return Current(Count(ready, want, "ready"));
}

Health DaemonSet(const Object& o) {
  std::int64_t want = StatusInt(o, "desiredNumberScheduled", -1);
  if (Unseen(o) || want < 0) return NotSeenYet();
  bool on_delete = GetString(o.json(), {"spec", "updateStrategy", "type"}) == "OnDelete";
  struct Part {
    std::string_view field, what;
  };
  constexpr Part kParts[] = {{"currentNumberScheduled", "scheduled"},
                             {"updatedNumberScheduled", "updated"},
                             {"numberAvailable", "available"},
                             {"numberReady", "ready"}};
  for (const Part& part : kParts) {
    if (on_delete && part.what == "updated") continue;
    if (StatusInt(o, part.field) < want) return InProgress(Count(StatusInt(o, part.field), want, part.what));
  }
  return Current(Count(StatusInt(o, "numberAvailable"), want, "available"));
}

Health ReplicaSet(const Object& o) {
  if (Unseen(o)) return NotSeenYet();
  auto conditions = Conditions(o);
  if (IsTrue(conditions, "ReplicaFailure")) return InProgress(Say(*FindCondition(conditions, "ReplicaFailure")));
  std::int64_t want = GetInt(o.json(), {"spec", "replicas"}, 1);
  if (StatusInt(o, "fullyLabeledReplicas") < want) {
    return InProgress(Count(StatusInt(o, "fullyLabeledReplicas"), want, "labelled"));
  }
  if (StatusInt(o, "availableReplicas") < want) {
    return InProgress(Count(StatusInt(o, "availableReplicas"), want, "available"));
  }
  if (StatusInt(o, "readyReplicas") < want) return InProgress(Count(StatusInt(o, "readyReplicas"), want, "ready"));
  if (StatusInt(o, "replicas") > want) {
    return InProgress(fmt::format("{} replicas too many are going", StatusInt(o, "replicas") - want));
  }
  return Current(Count(StatusInt(o, "availableReplicas"), want, "available"));
}

// The reason of a container that waits, "CrashLoopBackOff", or "".
std::string WaitingReason(const Object& pod) {
  for (std::string_view field : {"initContainerStatuses", "containerStatuses"}) {
    const Json* list = Find(pod.json(), {"status", field});
    if (list == nullptr || !list->is_array()) continue;
    for (const Json& c : *list) {
      std::string reason = GetString(c, {"state", "waiting", "reason"});
      if (!reason.empty()) return reason;
    }
  }
  return "";
}

Health Pod(const Object& o) {
  std::string phase = GetString(o.json(), {"status", "phase"});
  if (phase == "Succeeded") return Current("it has succeeded");
  if (phase == "Failed") return Failed(GetString(o.json(), {"status", "message"}, "it has failed"));
  auto conditions = Conditions(o);
  std::string waiting = WaitingReason(o);
  if (phase == "Running") {
    if (IsTrue(conditions, "Ready")) return Current("it is ready");
    if (waiting == "CrashLoopBackOff") return Failed("a container is in CrashLoopBackOff");
    return InProgress(waiting.empty() ? "it runs but is not ready" : "a container is in " + waiting);
  }
  const Condition* scheduled = FindCondition(conditions, "PodScheduled");
  if (scheduled != nullptr && scheduled->status == "False") return InProgress(Say(*scheduled));
  return InProgress(waiting.empty() ? "it is pending" : "a container is in " + waiting);
}

Health Job(const Object& o) {
  auto conditions = Conditions(o);
  if (IsTrue(conditions, "Complete")) return Current("it is complete");
  if (IsTrue(conditions, "Failed")) return Failed(Say(*FindCondition(conditions, "Failed")));
  if (GetString(o.json(), {"status", "startTime"}).empty()) return InProgress("it hasn't started");
  return Current(fmt::format("it runs: {} active, {} failed", StatusInt(o, "active"), StatusInt(o, "failed")));
}

Health PersistentVolumeClaim(const Object& o) {
  std::string phase = GetString(o.json(), {"status", "phase"}, "unknown");
  return phase == "Bound" ? Current("it is bound") : InProgress("its phase is " + phase);
}

Health Service(const Object& o) {
  bool balancer = GetString(o.json(), {"spec", "type"}) == "LoadBalancer";
  if (balancer && GetString(o.json(), {"spec", "clusterIP"}).empty()) return InProgress("it has no cluster IP");
  return Current("it is there");
}

Health CustomResourceDefinition(const Object& o) {
  auto conditions = Conditions(o);
  const Condition* names = FindCondition(conditions, "NamesAccepted");
  if (names != nullptr && names->status == "False") return Failed(Say(*names));
  const Condition* established = FindCondition(conditions, "Established");
  if (established == nullptr) return InProgress("it is not established");
  if (established->status == "True") return Current("it is established");
  if (established->status == "False" && established->reason != "Installing") return Failed(Say(*established));
  return InProgress(Say(*established));
}

Health ApiService(const Object& o) {
  auto conditions = Conditions(o);
  const Condition* available = FindCondition(conditions, "Available");
  if (available == nullptr) return InProgress("it is not available");
  return available->status == "True" ? Current("it is available") : InProgress(Say(*available));
}

Health Generic(const Object& o) {
  auto conditions = Conditions(o);
  const Condition* ready = FindCondition(conditions, "Ready");
  if (ready == nullptr) return Current("it is there");
  return ready->status == "True" ? Current(Say(*ready)) : InProgress(Say(*ready));
}

struct Rule {
  std::string_view group, kind;
  Health (*judge)(const Object&);
};
constexpr Rule kRules[] = {
    {"apps", "Deployment", Deployment},
    {"apps", "StatefulSet", StatefulSet},
    {"apps", "DaemonSet", DaemonSet},
    {"apps", "ReplicaSet", ReplicaSet},
    {"", "Pod", Pod},
    {"batch", "Job", Job},
    {"", "PersistentVolumeClaim", PersistentVolumeClaim},
    {"", "Service", Service},
    {"apiextensions.k8s.io", "CustomResourceDefinition", CustomResourceDefinition},
    {"apiregistration.k8s.io", "APIService", ApiService},
};

}  // namespace

Health HealthOf(const Object& object) {
  if (object.deleting()) return {HealthState::kTerminating, "it is being deleted"};
  const Json* observed = Find(object.json(), {"status", "observedGeneration"});
  if (observed != nullptr && observed->is_number_integer() && object.generation() != 0 &&
      observed->get<std::int64_t>() != object.generation()) {
    return InProgress(fmt::format("generation {} is not observed yet", object.generation()));
  }
  auto conditions = Conditions(object);
  if (IsTrue(conditions, "Reconciling")) return InProgress(Say(*FindCondition(conditions, "Reconciling")));
  if (IsTrue(conditions, "Stalled")) return Failed(Say(*FindCondition(conditions, "Stalled")));

  std::string group = object.group_version().group, kind = object.kind();
  for (const Rule& rule : kRules) {
    if (rule.group == group && rule.kind == kind) return rule.judge(object);
  }
  return Generic(object);
}

}  // namespace capi::kube
