// What is kept of the objects that are watched, and what a pass reads from it: the rest would be most of the memory.
#pragma once

#include "kube/cache/store.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// Transforms of watches. Of a workload: counts, conditions, the trace and what a pause left. Of a CRD: names, scope,
// versions and status. SlimToPresence: whether it is there and whether it is going.
void SlimWorkload(kube::Object& object);
void SlimCrd(kube::Object& object);
void SlimToPresence(kube::Object& object);

// The other way: of objects that those went over. `object` is null where there is none.
Workload WorkloadOf(const kube::ObjectId& id, const kube::ObjectPtr& object);
using lifecycle::StateOf;

}  // namespace capi::ops
