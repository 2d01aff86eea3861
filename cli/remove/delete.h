// `clusterctl delete`: takes providers out of the management cluster, and with --all the operator too.
#pragma once

#include <string>

#include "cli/frame/world.h"
#include "cli/remove/targets.h"

namespace capi::cli {

// The flags. A value.
struct DeleteOptions {
  ClusterOptions cluster;
  NamesByType names;
  std::string ns;  // of the providers; "" for any
  bool all = false, crds = false, namespaces = false, force = false, yes = false, dry_run = false;
  bool with_operator = true;
  int wait_seconds = 300;
};

Status Delete(const Context& ctx, const GlobalOptions& global, const DeleteOptions& options, World& world);

}  // namespace capi::cli
