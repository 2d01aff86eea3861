#include "cli/upgrade/operator_version.h"

#include <fmt/format.h>

#include "cli/operator_manifests/installation.h"

namespace capi::cli {

Status CheckOperator(const Context& ctx, ManagementCluster& cluster, Notes& notes) {
  auto found = TRY(FindOperator(ctx, cluster.client()));
  if (!found) {
    notes.Warn(
        "no Deployment has the label app.kubernetes.io/name=capi-operator: the operator runs elsewhere, or not at "
        "all");
    return Ok();
  }
  TRY(CheckSkew(*found, OwnVersion()));
  if (found->version && *found->version < OwnVersion()) {
    notes.Warn(
        fmt::format("the operator in namespace {} is {}, older than this clusterctl ({}): `clusterctl upgrade "
                    "operator` brings it up to date",
                    found->ns, found->version->ToString(), OwnVersion().ToString()));
  }
  if (!found->available)
    notes.Warn(
        fmt::format("the operator isn't available: kubectl -n {} describe deployment {}", found->ns, found->name));
  return Ok();
}

}  // namespace capi::cli
