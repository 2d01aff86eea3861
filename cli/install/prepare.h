// Everything that init knows before it writes anything.
#pragma once

#include <string>
#include <vector>

#include "base/context.h"
#include "cli/cert_manager/cert_manager.h"
#include "cli/frame/config.h"
#include "cli/frame/management_cluster.h"
#include "cli/install/candidate.h"
#include "cli/install/carry.h"
#include "cli/install/init.h"
#include "cli/install/installed.h"

namespace capi::cli {

// A value.
struct InitPlan {
  bool has_operator = false;  // already, before this run
  bool first_time = false;    // no core is installed yet
  std::vector<PresentProvider> present;
  std::vector<Candidate> queue;  // filled in and checked, without what is installed already
  // Asked for and left as they are: what is installed already, and what somebody else has made an object of.
  std::vector<api::ProviderId> skipped;
  std::vector<ProviderCargo> adopted;  // what clusterctl installed, and no operator looks after yet
};

// What is chosen, fetched, filled in and checked. Says what is skipped. `has_operator`: the cluster has one.
Result<InitPlan> PrepareInit(const Context& ctx, const Config& config, ManagementCluster& cluster,
                             const InitOptions& options, bool has_operator, Notes& notes);

// Of a candidate: with the Secret that its object names already, if any.
Result<ProviderCargo> CargoOf(const Config& config, const InitPlan& plan, const Candidate& candidate);

}  // namespace capi::cli
