// Kinds that rendering treats in a way of their own. Told by group and kind: the same name means something else in
// another group.
#pragma once

#include <string_view>

#include "kube/meta/object.h"

namespace capi::templating {

inline bool Is(const kube::Object& object, std::string_view group, std::string_view kind) {
  return object.kind() == kind && object.group_version().group == group;
}

inline bool IsNamespace(const kube::Object& object) { return Is(object, "", "Namespace"); }

inline bool IsCrd(const kube::Object& object) { return Is(object, "apiextensions.k8s.io", "CustomResourceDefinition"); }

inline bool IsDeployment(const kube::Object& object) { return Is(object, "apps", "Deployment"); }

// Kinds whose images clusterctl fixes and lists: Deployments and DaemonSets, and no others.
inline bool HasPodTemplate(const kube::Object& object) {
  return IsDeployment(object) || Is(object, "apps", "DaemonSet");
}

}  // namespace capi::templating
