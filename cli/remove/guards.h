// What stands in the way of a deletion, as far as the cluster tells before anything is deleted.
#pragma once

#include <string>
#include <vector>

#include "base/context.h"
#include "cli/remove/targets.h"
#include "kube/client/client.h"

namespace capi::cli {

// X2: each provider that workload clusters use, or of which that can't be told, with why. Can be overridden.
std::vector<std::string> InUse(const Context& ctx, kube::Client& client, const std::vector<Target>& targets);

// --include-crd: kFailedPrecondition, in clusterctl's words, where objects of the providers' CRDs exist.
Status CheckNoObjects(const Context& ctx, kube::Client& client, const std::vector<Target>& targets);

}  // namespace capi::cli
