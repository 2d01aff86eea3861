// `clusterctl move`: all that belongs to the Clusters of a namespace goes to another management cluster, into files, or
// out of them.
#pragma once

#include <string>

#include "base/context.h"
#include "cli/frame/world.h"

namespace capi::cli {

// A value.
struct MoveOptions {
  ClusterOptions from, to;
  std::string ns;              // -n; "" for the current one of the source
  std::string to_directory;    // --to-directory
  std::string from_directory;  // --from-directory
  std::string hide_warnings = "default";
  bool dry_run = false;
  bool include_providers = false;  // the operator's Provider objects, too
};

// An interrupted move goes on when it is run again, in either direction. kInvalidArgument for flags that don't go
// together; kFailedPrecondition, before anything is changed, where a move can't begin.
Status Move(const Context& parent, const GlobalOptions& global, const MoveOptions& options, World& world);

}  // namespace capi::cli
