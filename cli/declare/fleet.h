// The providers of a management cluster: what clusterctl noted, and the Provider objects of capi-operator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "api/variables_secret.h"
#include "cli/frame/management_cluster.h"

namespace capi::cli {

// An entry of clusterctl's inventory. A value.
struct InventoryEntry {
  api::ProviderId id;  // its namespace is that of the components
  std::string version;
  bool of_operator = false;  // capi-operator wrote it: the provider is its own
};

// A value.
struct Fleet {
  bool has_kinds = false;               // the cluster serves the kinds of capi-operator
  std::vector<InventoryEntry> entries;  // by type, name and namespace
  std::vector<kube::Object> objects;    // Provider objects, in the same order

  // That of its namespace, else one in whatever other namespace; null for none.
  const kube::Object* ObjectOf(const api::ProviderId& id) const;
};

Result<Fleet> ReadFleet(const Context& ctx, ManagementCluster& cluster);

api::ProviderId IdOf(const kube::Object& provider);

}  // namespace capi::cli
