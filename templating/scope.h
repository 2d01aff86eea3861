// Which kinds have no namespace, as far as that is known without a cluster: from the release's own CRDs, from a table
// of Kubernetes' and cert-manager's kinds, and for foreign groups by the names that clusterctl goes by.
#pragma once

#include <map>
#include <vector>

#include "kube/meta/object.h"

namespace capi::templating {

// Immutable.
class Scopes {
 public:
  // Learns from the CustomResourceDefinitions among `objects`.
  explicit Scopes(const std::vector<kube::Object>& objects);

  bool IsClusterScoped(const kube::GroupKind& kind) const;

 private:
  std::map<kube::GroupKind, bool> from_crds_;  // true: cluster-scoped
};

}  // namespace capi::templating
