// A provider object from one version of the API to the other. Pure and thread-safe.
//
// v1alpha1 has the words of the operator's first proposal, and otherwise every field of v1alpha2:
//
//   v1alpha1                                v1alpha2
//   secretName, secretNamespace             configSecret.name, configSecret.namespace
//   containers[].image: a text              containers[].imageUrl
//   containers[].image: an object           containers[].image
//   manager.metricsAddress                  manager.metrics.bindAddress
//   manager.syncPeriod, gracefulShutDown,   the duration: 660 is "660s"
//     leaderElection.leaseDuration,
//     renewDeadline and retryPeriod: a
//     number of seconds
//   an argument's number, true or false     its text
//   an argument's name without dashes       with two
//   conditions[].severity                   none
//
// Other durations are the same in both: rollout.timeout is a text, controller.cacheSyncTimeout nanoseconds.
//
// Nothing of a spec is lost: what the other version writes in one way only, an object gets back as it was written, from
// an annotation, field by field and argument by argument. One that was changed keeps its name, and has the new value.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace capi::api {

// How the other version wrote the spec: the parts of it that a plain conversion writes in another way, null for what it
// didn't have, with containers by name. Of a v1alpha2 object, and of a v1alpha1 one.
inline constexpr std::string_view kAnnotationOldForm = "operator.cluster.x-k8s.io/v1alpha1";
inline constexpr std::string_view kAnnotationNewForm = "operator.cluster.x-k8s.io/v1alpha2";

// `object` in version `to` ("operator.cluster.x-k8s.io/v1alpha2"). Members that neither version has stay as they are.
// kInvalidArgument, with the field's path, for an object of another group or version, and for a value that v1alpha2 has
// no place for ("spec.deployment.containers[0].image.digest: unknown field").
Result<Json> Convert(Json object, std::string_view to);

}  // namespace capi::api
