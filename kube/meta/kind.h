// Whether an object is of a kind, by its group and kind: the same name means something else in another group.
#pragma once

#include <string_view>

#include "kube/meta/object.h"

namespace capi::kube {

inline bool Is(const Object& object, std::string_view group, std::string_view kind) {
  return object.kind() == kind && object.group_version().group == group;
}

inline bool IsNamespace(const Object& object) { return Is(object, "", "Namespace"); }

inline bool IsCrd(const Object& object) { return Is(object, "apiextensions.k8s.io", "CustomResourceDefinition"); }

inline bool IsDeployment(const Object& object) { return Is(object, "apps", "Deployment"); }

// Kinds whose images clusterctl fixes and lists: Deployments and DaemonSets, and no others.
inline bool HasPodTemplate(const Object& object) { return IsDeployment(object) || Is(object, "apps", "DaemonSet"); }

}  // namespace capi::kube
