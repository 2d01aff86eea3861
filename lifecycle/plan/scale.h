// Workloads to zero and back, so that no crash can lose how many replicas there were (behaviour.md P1). Pure.
//
// Two fields of a live workload, written together by one merge patch: spec.replicas is 0, and annotation
// operator.cluster.x-k8s.io/original-replicas keeps what it was.
#pragma once

#include <optional>
#include <string>

#include "kube/apply/manifest.h"
#include "kube/meta/object.h"

namespace capi::lifecycle {

// Who had set the count through the scale subresource.
inline constexpr const char* kAnnotationScaledBy = "operator.cluster.x-k8s.io/scaled-by";

// Deployments and StatefulSets have replicas to take away.
bool HasReplicas(const kube::ObjectId& id);

// spec.replicas; 1 where it isn't said.
std::int64_t Replicas(const kube::Object& object);

// The field manager that has set spec.replicas through the scale subresource, other than the operator's: an
// autoscaler's, or that of `kubectl scale`. "" for none.
std::string ScaledBy(const kube::Object& live);

// Takes spec.replicas out of a workload's manifest: whoever scales it owns that field.
kube::Manifest WithoutReplicas(const kube::Manifest& manifest);

// Merge patches of a live workload; null where it is as it must be. `declared` is what spec.deployment.replicas says.
// `scaled_by`, whoever set the count through the scale subresource, is kept in annotation scaled-by: with the count it
// gets its claim back, so that no later apply takes the release's count instead (D1).
Json ScaleDownPatch(const kube::Object& live, const std::string& scaled_by = "");
Json ScaleUpPatch(const kube::Object& live, std::optional<int> declared);
// What comes before that where somebody's claim was kept: replicas to be set through the scale subresource in their
// name. nullopt: nobody's was, or that is done. A value.
struct Claim {
  std::string by;
  int replicas = 1;
};
std::optional<Claim> ClaimToReturn(const kube::Object& live, std::optional<int> declared);

}  // namespace capi::lifecycle
