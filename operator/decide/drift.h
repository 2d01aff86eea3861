// Drift, told from metadata alone (behaviour.md D1): what a watch keeps of an object, and what follows from it.
//
// A foreign change of a field that is ours takes the field out of our entry in managedFields. So the hash of that entry
// tells a change from noise, and the entry of who wrote last tells what was changed and by whom.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/apply/manifest.h"
#include "kube/meta/object.h"
#include "lifecycle/plan/scale.h"
#include "operator/decide/certificates/marks.h"

namespace capi::ops {

using lifecycle::WithoutReplicas;

// What is left of managedFields once a watch has slimmed an object. A value.
struct Trace {
  std::string fields;      // kube::FieldsHash of our entry; "" where we have none
  std::string by;          // who else wrote after us or with us: "kubectl-edit (Update)"; "" for nobody
  Json changed;            // that writer's fieldsV1; null when it is large
  std::string scaled_by;   // who set spec.replicas through the scale subresource: an autoscaler, `kubectl scale`
  CertificateMarks marks;  // I19
};

// Computes the trace and drops managedFields; TraceOf reads it back from such an object.
void KeepTrace(kube::Object& object);
Trace TraceOf(const kube::Object& slimmed);
// Leaves nothing but identity, version, our labels, the time of deletion and the trace: for kinds of which only drift
// matters.
void SlimToTrace(kube::Object& object);

// An object that isn't as it was applied. A value.
struct Drift {
  kube::ObjectId id;
  bool missing = false;  // deleted; else changed
  Trace trace;           // of a changed one
  Millis wait{0};        // D2: not to be restored before that; 0 for at once
  // What makes two drifts of an object the same one: the fields and who changed them, or that it is gone.
  std::string Signature() const;
};

// Paths among `fields` (fieldsV1) that `manifest` has: ".spec.replicas", ".webhooks[name=a].failurePolicy".
std::vector<std::string> PathsIn(const Json& fields, const Json& manifest);

// "spec.replicas of Deployment... was changed by kubectl-edit (Update)", for an event.
std::string Describe(const Drift& drift, const std::vector<std::string>& paths);

}  // namespace capi::ops
