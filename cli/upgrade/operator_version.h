// The operator that a management cluster has, and whether this clusterctl may tell it what to do.
#pragma once

#include <optional>
#include <string>

#include "cli/frame/management_cluster.h"

namespace capi::cli {

// A Deployment of the operator. A value.
struct OperatorDeployment {
  std::string ns, name;
  std::string version;  // "" where it can't be told
  bool available = false;
};

// Of a Deployment: its label app.kubernetes.io/version, else the tag of its image.
OperatorDeployment ReadOperatorDeployment(const kube::Object& deployment);

// The operator of the cluster; nothing where no Deployment is one: it runs elsewhere, or not at all.
Result<std::optional<OperatorDeployment>> FindOperatorDeployment(const Context& ctx, ManagementCluster& cluster);

// kFailedPrecondition for an operator of another minor version than this clusterctl, `own`, with the next step. One
// whose version can't be told is taken as it is.
Status CheckOperator(const OperatorDeployment& found, std::string_view own);

}  // namespace capi::cli
