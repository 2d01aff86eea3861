// The ClusterClasses that a template's Clusters use, and that come with the template's release.
#pragma once

#include <string>
#include <vector>

#include "cli/generate/workload_source.h"
#include "kube/meta/object.h"

namespace capi::cli {

// A value.
struct ClassText {
  std::string file, text;  // "clusterclass-quick-start.yaml"
};

// In the place of a value that isn't known, where the variables of a template are listed.
inline constexpr std::string_view kUnknownValue = "value-that-is-not-known";

// Of the Clusters among `objects`, each class once, in their order; without those that the cluster has, and those
// whose name isn't known. A cluster that can't be opened, or has no ClusterClasses yet, has none. kFailedPrecondition
// for one that should be in another namespace than `ns` and isn't there: it can't be brought along.
Result<std::vector<ClassText>> MissingClasses(const Context& ctx, const Config& config, const ProviderVersion& release,
                                              const std::vector<kube::Object>& objects, const std::string& ns,
                                              MaybeCluster& cluster, Notes& notes);

// kAlreadyExists where the cluster has one of these objects: an apply would change what other clusters use.
Status CheckAreNew(const Context& ctx, const std::vector<kube::Object>& objects, MaybeCluster& cluster);

}  // namespace capi::cli
