// The kinds of objects that a move looks at.
#pragma once

#include <optional>
#include <vector>

#include "kube/meta/object.h"
#include "kube/meta/resource.h"

namespace capi::cli::move {

// Labels of objects and of CustomResourceDefinitions; whatever their value.
inline constexpr std::string_view kMoveLabel = "clusterctl.cluster.x-k8s.io/move";
inline constexpr std::string_view kHierarchyLabel = "clusterctl.cluster.x-k8s.io/move-hierarchy";

inline constexpr std::string_view kCoreGroup = "cluster.x-k8s.io";
inline constexpr std::string_view kAddonsGroup = "addons.cluster.x-k8s.io";

// A value.
struct MovedKind {
  kube::Resource resource;  // at the version at which it is stored
  bool moves = false;       // all of its objects move, whoever owns them
  bool hierarchy = false;   // and with each of them what it owns, directly or not

  bool global() const { return !resource.namespaced; }
};

// Of a CustomResourceDefinition; null where none of its versions is served.
std::optional<MovedKind> MovedKindOf(const kube::Object& crd);

// Secrets and ConfigMaps, of which those move that belong to something that does.
std::vector<MovedKind> BuiltinMovedKinds();

}  // namespace capi::cli::move
