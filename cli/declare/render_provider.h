// The objects of a Provider object, as the operator would apply them.
#pragma once

#include <string>
#include <vector>

#include "api/types.h"
#include "cli/declare/diff/object_diff.h"
#include "cli/frame/config.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/world.h"
#include "kube/apply/manifest.h"

namespace capi::cli {

// A value.
struct RenderedProvider {
  std::vector<kube::Manifest> manifests;
  std::vector<std::string> warnings;
  MaskedValues masked;  // values of its variables, those that are live among them
  std::string version;
};

// Variables are those of the provider's Secret, then of the environment and the configuration, then the defaults.
// kFailedPrecondition names those that are missing.
Result<RenderedProvider> RenderProvider(const Context& ctx, ManagementCluster& cluster, const Config& config,
                                        const api::Provider& provider, Notes& notes);

}  // namespace capi::cli
