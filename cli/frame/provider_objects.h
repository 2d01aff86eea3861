// The operator's provider objects, as commands about them find them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/types.h"
#include "cli/frame/management_cluster.h"

namespace capi::cli {

// A provider object, and the operator that looks after it. A value.
struct ProviderObject {
  api::Provider provider;
  std::string wanted;                    // what is to run (api::VersionToRun); "" where any will do
  std::optional<Error> unreadable = {};  // why its spec can't be read
  std::string declared = {};             // spec.version, which a policy may have gone beyond
};

// As the server gave it. One whose spec can't be read has its metadata and status.
ProviderObject ReadProviderObject(const kube::Object& object);

// Whether the operator leaves it as it is, or at zero replicas: a person has paused it, or it is being deleted. Nothing
// that waits for it would end.
bool IsHeld(const api::Provider& provider);

// Whether a person means this provider: by name (aws), by label (infrastructure-aws), or as kubectl takes objects
// (infrastructureprovider/aws, infrastructureproviders/aws, caip/aws).
bool IsMeant(std::string_view text, const api::ProviderId& id);

// All of them in `ns` or, where that is "", in all namespaces, by type, name and namespace. kFailedPrecondition: the
// cluster has no such objects at all.
Result<std::vector<ProviderObject>> AllProviders(const Context& ctx, ManagementCluster& cluster, const std::string& ns);

// Those that `text` means, in `ns` or, where that is "", in all namespaces: one at least, by type, name and namespace.
// kNotFound names those that there are; kFailedPrecondition: the cluster has no such objects at all.
Result<std::vector<ProviderObject>> FindProviders(const Context& ctx, ManagementCluster& cluster, std::string_view text,
                                                  const std::string& ns);

// Of a command line that takes exactly one name. To be called before anything is looked up.
Result<std::string> OneProviderName(const std::vector<std::string>& names);

// "InfrastructureProvider capa-system/aws".
std::string Describe(const api::ProviderId& id);
// As kubectl takes it: "infrastructureprovider.operator.cluster.x-k8s.io/aws".
std::string KubectlName(const api::ProviderId& id);

}  // namespace capi::cli
