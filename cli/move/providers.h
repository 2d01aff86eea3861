// The operator's Provider objects, which `--include-providers` gives a target that lacks them, so that its operator
// installs what the Clusters need. They stay in the source, whose other namespaces may need them.
#pragma once

#include <vector>

#include "api/kinds.h"
#include "cli/frame/management_cluster.h"
#include "cli/move/work.h"
#include "kube/meta/object.h"

namespace capi::cli::move {

// What a Provider object refers to: a Secret or ConfigMap. A value.
struct ProviderReference {
  std::string kind, ns, name;
  auto operator<=>(const ProviderReference&) const = default;
};

// Pure. Without status, finalizers, owners, and what the operator's annotations say of the source.
kube::Object ProviderCopy(const kube::Object& provider);
// Pure.
std::vector<ProviderReference> ReferencesOf(const kube::Object& provider);

// Leaves of these only those that IncludeProviders doesn't bring: neither cluster has a Provider object of them.
Status EraseIncluded(const Context& ctx, kube::Client& source, kube::Client& target,
                     std::vector<InstalledProvider>& providers);

// Creates in the target each Provider object that it lacks, by kind and name, with what it refers to. What is there
// stays as it is. Waits until the target's operator has made them Ready, those that were there too. kFailedPrecondition
// where the target has no operator, or a provider isn't Ready within five minutes.
Status IncludeProviders(const Context& ctx, kube::Client& source, kube::Client& target, Progress& progress);

// Says what it would do.
Status TellProviders(const Context& ctx, kube::Client& source, Progress& progress);

}  // namespace capi::cli::move
