// Which kinds have no namespace: from the release's own CRDs, from a table of Kubernetes' and cert-manager's kinds,
// and from the cluster's discovery where there is a cluster. Always by group and kind: a name alone says nothing.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "kube/meta/object.h"

namespace capi::templating {

// Whether the cluster's kind has no namespace; nullopt where the cluster has no such kind. Asked in the middle of a
// render: it answers from memory, and who can't says so to its caller (the operator's KindScopes renders again).
using ScopeLookup = std::function<std::optional<bool>(const kube::GroupKind&)>;

// Immutable.
class Scopes {
 public:
  // Learns from the CustomResourceDefinitions among `objects`. `lookup` is null where there is no cluster to ask.
  Scopes(const std::vector<kube::Object>& objects, ScopeLookup lookup);

  bool IsClusterScoped(const kube::GroupKind& kind) const;

 private:
  std::map<kube::GroupKind, bool> from_crds_;  // true: cluster-scoped
  ScopeLookup lookup_;
};

}  // namespace capi::templating
