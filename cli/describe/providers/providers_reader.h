// Reads what `describe providers` tells of a management cluster.
#pragma once

#include <string>

#include "cli/describe/providers/providers_tree.h"
#include "cli/frame/world.h"

namespace capi::cli::describe {

// Which Deployments are the operator's.
inline constexpr char kOperatorLabel[] = "app.kubernetes.io/name=capi-operator";

// Of `ns`, "" for all namespaces. What a person has no right to read is told, and does without; any other failure is
// one of the whole.
Result<ProvidersInput> ReadProviders(const Context& ctx, ManagementCluster& cluster, const std::string& ns,
                                     Notes& notes);

}  // namespace capi::cli::describe
