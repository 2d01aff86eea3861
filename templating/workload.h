// Which objects run pods, as far as rendering looks into them.
#pragma once

#include "kube/meta/object.h"

namespace capi::templating {

inline bool IsDeployment(const kube::Object& object) {
  return object.kind() == "Deployment" && object.group_version().group == "apps";
}

// Kinds whose images clusterctl fixes and lists: Deployments and DaemonSets, and no others.
inline bool HasPodTemplate(const kube::Object& object) {
  return IsDeployment(object) || (object.kind() == "DaemonSet" && object.group_version().group == "apps");
}

}  // namespace capi::templating
