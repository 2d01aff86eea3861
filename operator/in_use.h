// Which objects of workload clusters need a provider (behaviour.md X2).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kube/client/client.h"
#include "kube/meta/object.h"
#include "operator/observation.h"
#include "operator/watches.h"

namespace capi::ops {

// Objects by uid, to follow owners through.
using ByUid = std::map<std::string, const kube::Object*>;

// The object is a Cluster, is labelled with one, or is owned by one or by something that is (Machines, and what they
// own). Pure. `object` needs apiVersion, kind and metadata alone.
bool BelongsToCluster(const kube::Object& object, const ByUid& known);

// The version to read objects of a CRD at (P3): one in storedVersions, the storage version where that is served, so
// that no conversion is needed. kUnavailable where no such version is served. `crd` needs no schemas.
Result<kube::Resource> ReadableResource(const kube::Object& crd);

// "Machine default/a"; "ClusterClass b" without a namespace.
std::string NameOf(const kube::Object& object);

// Thread-safe.
class UseFinder {
 public:
  UseFinder(kube::Client& client, Watches& watches) : client_(client), watches_(watches) {}

  // The objects of `crds` that belong to clusters. `key` is woken when one of them goes.
  Result<std::vector<std::string>> Find(const Context& ctx, const std::string& key,
                                        const std::vector<kube::ObjectPtr>& crds);

 private:
  kube::Client& client_;
  Watches& watches_;
};

// Leaves identity, labels and owners.
void SlimToOwners(kube::Object& object);

}  // namespace capi::ops
