#include "operator/observe/slim.h"

#include <fmt/core.h>

#include "api/types.h"
#include "kube/meta/label_selector.h"
#include "kube/meta/object_conditions.h"
#include "operator/decide/drift.h"

namespace capi::ops {
namespace {

// What a pause looks at, and its own measure of health: a workload at zero is as it should be, whatever its conditions
// remember of the pods that it had (P1).
void ReadReplicas(const kube::Object& object, Workload& workload) {
  const Json& json = object.json();
  workload.replicas = GetInt(json, {"spec", "replicas"}, 1);
  if (object.has_annotation(api::kAnnotationOriginalReplicas)) {
    workload.former = object.annotation(api::kAnnotationOriginalReplicas);
  }
  bool seen = GetInt(json, {"status", "observedGeneration"}) >= object.generation();
  auto left = GetInt(json, {"status", "replicas"}) + GetInt(json, {"status", "terminatingReplicas"});
  workload.idle = workload.replicas == 0 && left == 0;
  workload.at_zero = workload.idle && seen;
  if (!workload.former || workload.replicas != 0) return;
  workload.health = workload.at_zero
                        ? kube::Health{kube::HealthState::kCurrent, "paused at zero replicas"}
                        : kube::Health{kube::HealthState::kInProgress, fmt::format("{} replicas are going", left)};
}

// Why its pods can't even be made (a quota, an admission webhook), as its controller says; and whose pods to look at.
void DescribeTrouble(const kube::Object& object, Workload& workload) {
  const auto conditions = kube::Conditions(object);
  if (kube::IsTrue(conditions, "ReplicaFailure")) {
    workload.health.message += ": " + kube::FindCondition(conditions, "ReplicaFailure")->message;
  }
  const Json* labels = capi::Find(object.json(), {"spec", "selector"});
  if (labels == nullptr) return;
  auto selector = kube::LabelSelector::FromJson(*labels);
  if (selector.ok()) workload.pods = selector->ToString();
}

}  // namespace

// Health reads counts and conditions; pod templates and field owners are most of a Deployment's size.
void SlimWorkload(kube::Object& object) {
  KeepTrace(object);
  Json& json = object.json();
  if (Json* spec = Find(json, {"spec"}); spec != nullptr && spec->is_object()) spec->erase("template");
  if (Json* metadata = Find(json, {"metadata"})) {
    Json* annotations = Find(*metadata, {"annotations"});
    if (annotations == nullptr || !annotations->is_object()) return;
    std::string former = GetString(*annotations, {api::kAnnotationOriginalReplicas});
    bool paused = annotations->contains(std::string(api::kAnnotationOriginalReplicas));
    *annotations = Json::object();
    if (paused) object.set_annotation(api::kAnnotationOriginalReplicas, former);
  }
}

// Names, scope, versions and status; schemas are nearly all of a CRD.
void SlimCrd(kube::Object& object) {
  KeepTrace(object);
  Json& json = object.json();
  if (Json* metadata = Find(json, {"metadata"})) metadata->erase("annotations");
  Json* spec = Find(json, {"spec"});
  if (spec == nullptr || !spec->is_object()) return;
  spec->erase("conversion");
  Json* versions = Find(*spec, {"versions"});
  if (versions == nullptr || !versions->is_array()) return;
  for (Json& version : *versions) {
    bool has_status = Find(version, {"subresources", "status"}) != nullptr;
    version = Json{{"name", GetString(version, {"name"})},
                   {"served", GetBool(version, {"served"})},
                   {"storage", GetBool(version, {"storage"})},
                   {"status", has_status}};
  }
}

void SlimToPresence(kube::Object& object) {
  kube::Object slim = kube::IdentityOf(object);
  if (const Json* going = Find(object.json(), {"metadata", "deletionTimestamp"})) {
    slim.json()["metadata"]["deletionTimestamp"] = *going;
  }
  object = std::move(slim);
}

Workload WorkloadOf(const kube::ObjectId& id, const kube::ObjectPtr& object) {
  Workload workload;
  workload.id = id;
  workload.exists = object != nullptr;
  if (!object) return workload;
  workload.health = kube::HealthOf(*object);
  workload.terminating = GetInt(object->json(), {"status", "terminatingReplicas"});
  workload.available = GetInt(object->json(), {"status", "availableReplicas"}) +
                       GetInt(object->json(), {"status", "numberAvailable"});  // of a DaemonSet
  if (!workload.health.ok()) DescribeTrouble(*object, workload);
  ReadReplicas(*object, workload);
  return workload;
}

}  // namespace capi::ops
