// init --operator=false: the providers are installed from here, and no operator is left in the cluster.
#pragma once

#include <vector>

#include "base/context.h"
#include "cli/frame/config.h"
#include "cli/install/candidate.h"
#include "cli/install/init.h"
#include "cli/operator_manifests/installation.h"
#include "lifecycle/direct/release.h"

namespace capi::cli {

// kFailedPrecondition where an operator is there: it is the one to install.
Status CheckNoOperator(const std::optional<InstalledOperator>& there);

// Made ready before anything is written.
Result<std::vector<lifecycle::DirectRelease>> PrepareDirectly(const Context& ctx, const Config& config,
                                                              kube::Client& client,
                                                              const std::vector<Candidate>& queue);

// behaviour.md L23. Once cert-manager is there. `skipped` are installed already, and are waited for where all are.
Status InstallDirectly(const Context& ctx, kube::Client& client, const std::vector<lifecycle::DirectRelease>& releases,
                       const std::vector<api::ProviderId>& skipped, const InitOptions& options, Notes& notes);

}  // namespace capi::cli
