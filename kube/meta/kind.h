// Whether an object is of a kind, by its group and kind: the same name means something else in another group.
#pragma once

#include <string_view>

#include "kube/meta/object.h"

namespace capi::kube {

inline bool Is(const GroupKind& of, std::string_view group, std::string_view kind) {
  return of.kind == kind && of.group == group;
}
inline bool Is(const ObjectId& of, std::string_view group, std::string_view kind) {
  return of.kind == kind && of.group == group;
}
inline bool Is(const Object& of, std::string_view group, std::string_view kind) {
  return of.kind() == kind && of.group_version().group == group;
}

// Of an Object, an ObjectId or a GroupKind.
template <typename T>
bool IsCrd(const T& of) {
  return Is(of, "apiextensions.k8s.io", "CustomResourceDefinition");
}

inline bool IsNamespace(const Object& object) { return Is(object, "", "Namespace"); }

inline bool IsDeployment(const Object& object) { return Is(object, "apps", "Deployment"); }

}  // namespace capi::kube
