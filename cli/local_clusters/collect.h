// `clusterctl local collect`: logs, objects and conditions in one archive.
#pragma once

#include <string>

#include "cli/local_clusters/references.h"
#include "cli/local_clusters/target.h"

namespace capi::cli::local_clusters {

// The flags. A value.
struct CollectFlags {
  TargetOptions target;
  std::string output;     // "" for a name with the time, in the working folder
  std::string manifests;  // folder whose values of references are left out; "" for none
};

// behaviour.md G13.
Status Collect(const Context& parent, const GlobalOptions& global, const CollectFlags& flags, World& world);

// A value.
struct GatherInput {
  std::string plane;        // folder of the local plane whose logs are taken; "" for none
  std::string archive;      // the path
  Hider hider;              // of values that are left out wherever they are
  std::string unseen = {};  // why there is no cluster to ask, where that is so
};

// "FOLDER/collected-20260102T030405Z.tar.gz".
std::string ArchiveName(const std::string& folder, WallTime now);

// Writes the archive, for its owner alone. What can't be read is named in its errors.txt; an error is only that nothing
// could be read or written, or that `ctx` was stopped: nothing is written then. No value of a Secret is in it, nor one
// of `hider` with four characters or more.
// Without a cluster (null) logs are taken all the same.
Status Gather(const Context& ctx, ManagementCluster* cluster, const GatherInput& input);

}  // namespace capi::cli::local_clusters
