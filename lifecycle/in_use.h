// Which objects of workload clusters need a provider (behaviour.md X2).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/client/client.h"
#include "kube/meta/object.h"

namespace capi::lifecycle {

// The CRD as the server has it now; nullopt where there is none. kUnavailable for a 404 that isn't about it: it comes
// of a proxy before the API server, say, and nothing may be deleted for it (X1, X2).
Result<std::optional<kube::Object>> ReadCrd(kube::Client& client, const Context& ctx, const std::string& name);

// The versions to read objects of a CRD at (P3), best first: those in storedVersions, the storage version before
// others, so that no conversion is needed where all objects are stored at one of them. kUnavailable where no such
// version is served. `crd` needs no schemas.
Result<std::vector<kube::Resource>> ReadableResources(const kube::Object& crd);

// Sees the objects of a CRD, metadata alone, in `ns` ("" for all) where it has namespaces, at the first of those
// versions at which the server answers: `begin` is told of each that is tried, and that what was seen before doesn't
// count; `see` of the objects, until it wants no more. False where the CRD is gone by now, or isn't Established: it has
// no objects then, whatever was seen. kUnavailable where it exists and the server has none of the versions at their
// paths: of several API servers one may not have heard of them yet (X1).
Result<bool> SeeReadable(kube::Client& client, const Context& ctx, const kube::Object& crd, kube::ListOptions options,
                         const std::string& ns, const std::function<void(const kube::Resource&)>& begin,
                         const std::function<bool(kube::Object)>& see);

// The same, all at once; none, and no version, where there is none. kInternal for more than max_bytes, or
// kMaxHeldBytes.
struct ReadObjects {
  kube::Resource resource;
  std::vector<kube::Object> items;
};
Result<ReadObjects> ListReadable(kube::Client& client, const Context& ctx, const kube::Object& crd,
                                 kube::ListOptions options = {}, const std::string& ns = "");

// "Machine default/a"; "ClusterClass b" without a namespace.
std::string NameOf(const kube::Object& object);

// An object of a workload cluster, as small as can be: of those that are owned by others, there may be 100,000 of which
// nobody knows yet. Uids are told apart by their hashes. A value.
struct ClusterUser {
  std::shared_ptr<const kube::Resource> resource;
  std::string ns, name;
  std::uint64_t uid = 0;
  std::vector<std::uint64_t> owners;  // uids; none of what belongs by itself
};
std::string NameOf(const ClusterUser& user);

// `now` is that object, and still belongs to a cluster: by itself (it is a Cluster, is labelled with one, or owned by
// one or a Machine and the like), or by the owners by which it was found. Pure; it needs apiVersion, kind and metadata
// alone.
bool StillBelongs(const kube::Object& now, const ClusterUser& user);

// The first `most` objects of these CRDs that belong to clusters, by themselves or because they are owned by one that
// does. Whoever isn't owned, or is found at once, costs no memory.
Result<std::vector<ClusterUser>> FindUsers(kube::Client& client, const Context& ctx,
                                           const std::vector<const kube::Object*>& crds, size_t most);

// Leaves identity, labels and owners.
void SlimToOwners(kube::Object& object);

}  // namespace capi::lifecycle
