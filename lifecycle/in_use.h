// Which objects of workload clusters need a provider (behaviour.md X2).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kube/client/client.h"
#include "kube/meta/object.h"

namespace capi::lifecycle {

// Objects by uid, to follow owners through.
using ByUid = std::map<std::string, const kube::Object*>;

// The object is a Cluster, is labelled with one, or is owned by one or by something that is (Machines, and what they
// own). Pure. `object` needs apiVersion, kind and metadata alone.
bool BelongsToCluster(const kube::Object& object, const ByUid& known);

// The versions to read objects of a CRD at (P3), best first: those in storedVersions, the storage version before
// others, so that no conversion is needed where all objects are stored at one of them. kUnavailable where no such
// version is served. `crd` needs no schemas.
Result<std::vector<kube::Resource>> ReadableResources(const kube::Object& crd);

// The objects of a CRD, metadata alone, in `ns` ("" for all) where it has namespaces, at the first of those versions at
// which the server answers. None, and no version, where the CRD is gone by now, or isn't Established: it has no objects
// then. kUnavailable where it exists and the server has none of the versions at their paths: of several API servers one
// may not have heard of them yet (X1).
struct ReadObjects {
  kube::Resource resource;
  std::vector<kube::Object> items;
};
Result<ReadObjects> ListReadable(kube::Client& client, const Context& ctx, const kube::Object& crd,
                                 kube::ListOptions options = {}, const std::string& ns = "");

// "Machine default/a"; "ClusterClass b" without a namespace.
std::string NameOf(const kube::Object& object);

// The objects of these CRDs that belong to clusters, in words.
Result<std::vector<std::string>> ClusterUsers(kube::Client& client, const Context& ctx,
                                              const std::vector<kube::Object>& crds);

// Leaves identity, labels and owners.
void SlimToOwners(kube::Object& object);

}  // namespace capi::lifecycle
