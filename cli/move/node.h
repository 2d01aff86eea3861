// What a move keeps of an object: where it belongs, and what may hold it back. Not the object itself, so that memory
// stays small whatever objects hold. Pure.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "cli/move/moved_kind.h"
#include "cli/move/record.h"

namespace capi::cli::move {

inline constexpr std::string_view kBlockMoveAnnotation = "clusterctl.cluster.x-k8s.io/block-move";
inline constexpr std::string_view kDeleteForMoveAnnotation = "clusterctl.cluster.x-k8s.io/delete-for-move";

// A value.
struct NamespacedName {
  std::string ns, name;
  auto operator<=>(const NamespacedName&) const = default;
};

// Kinds of which more is known than their names.
enum class Role { kOther, kSecret, kCluster, kClusterClass, kMachine, kResourceSetBinding };
Role RoleOf(const kube::GroupKind& kind);

// An ownerReference. A value.
struct Owner {
  std::string kind, name, uid;
};

// A value.
struct Node {
  size_t kind = 0;  // its place in the list of kinds
  Role role = Role::kOther;
  std::string ns, name, uid;
  std::string version;  // the resource version when it was read
  std::vector<Owner> owners;
  bool moves = false, hierarchy = false;  // as in MovedKind, by its own labels or those of its kind
  bool blocks_move = false;               // its provider isn't ready for a move yet
  bool deleting = false;                  // somebody has deleted it, and finalizers are left
  bool leaving = false;                   // a move has begun to delete it, having created it in the target before
  NamespacedName cluster_class;           // of a Cluster with a topology
  std::string cluster;                    // of a Machine or ClusterResourceSetBinding
  bool paused = false;                    // of a Cluster or ClusterClass
  std::optional<Record> record;           // of these
  std::string not_ready;                  // of a Cluster or Machine: why a move can't begin now; "" for nothing
};

Node NodeOf(const kube::Object& object, size_t index, const MovedKind& kind);

// The objects that a ClusterClass refers to, all of them in its namespace.
struct TemplateReference {
  std::string api_version, kind, name;
  auto operator<=>(const TemplateReference&) const = default;
};
std::vector<TemplateReference> TemplatesOf(const kube::Object& cluster_class);

// The ClusterClass of a Cluster; without a name where it has none.
NamespacedName ClassOf(const kube::Object& cluster);

}  // namespace capi::cli::move
