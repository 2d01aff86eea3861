// Whether the operator of a management cluster is one that this clusterctl may tell what to do.
#pragma once

#include "cli/frame/management_cluster.h"

namespace capi::cli {

// kFailedPrecondition for an operator of another minor version, with the next step. Warns of one that is older all the
// same, isn't there, or isn't available.
Status CheckOperator(const Context& ctx, ManagementCluster& cluster, Notes& notes);

}  // namespace capi::cli
