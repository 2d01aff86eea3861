// Reads what a management cluster has of what a move looks at.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/management_cluster.h"
#include "cli/move/graph.h"

namespace capi::cli::move {

// The kinds that Cluster API's providers brought, Secrets and ConfigMaps.
Result<std::vector<MovedKind>> ReadKinds(const Context& ctx, kube::Client& client);

// What there is of these kinds in the namespace, and of those without one; Secrets of infrastructure providers; the
// ClusterClasses in other namespaces that are used, with their templates.
Result<Graph> ReadGraph(const Context& ctx, kube::Client& client, const std::vector<InstalledProvider>& providers,
                        const std::string& ns);

// The object of a node as it is now. kFailedPrecondition where it is another one of its name.
Result<kube::Object> ReadNode(const Context& ctx, kube::Client& client, const Graph& graph, size_t i);

// All pages of a listing, several of which may be on their way. A kind that is gone has no objects.
Status EachObject(const Context& ctx, kube::Client& client, const kube::Resource& resource, const std::string& ns,
                  const kube::ListOptions& options, const std::function<void(const kube::Object&)>& see);

// Where a management cluster's Clusters are, for one that has none in `ns`.
Result<std::set<std::string>> NamespacesWithClusters(const Context& ctx, kube::Client& client);

const kube::Resource& ClusterResource();
const kube::Resource& ClassResource();

}  // namespace capi::cli::move
