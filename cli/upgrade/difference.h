// What changes between two renders of a provider. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/meta/object.h"

namespace capi::cli {

// A value.
struct ObjectChange {
  enum class Kind { kAdded, kChanged, kRemoved };
  Kind kind = Kind::kChanged;
  std::string object;              // "Deployment.apps/capi-system/capi-controller-manager"
  std::vector<std::string> paths;  // of a changed one: ".spec.replicas"; no values, which may be secret
};

// By kind and name. Objects are one where group, kind, namespace and name are, whatever their version. Those that are
// equal aren't there.
std::vector<ObjectChange> CompareObjects(const std::vector<kube::Object>& before,
                                         const std::vector<kube::Object>& after);

// "  ~ Deployment.apps/a/b: .spec.replicas, .spec.x and 3 more", a line for each.
std::string AsLines(const std::vector<ObjectChange>& changes);

}  // namespace capi::cli
