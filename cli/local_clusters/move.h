// `clusterctl local move`: a cluster that was made locally becomes its own management cluster, and keeps the manifests
// that it was made of.
#pragma once

#include <string>
#include <vector>

#include "cli/local_clusters/target.h"
#include "kube/meta/object.h"

namespace capi::cli::local_clusters {

// The flags. A value.
struct LocalMoveOptions {
  TargetOptions target;
  ClusterOptions to;
  std::string ns, manifests;  // `manifests`: "" where none are kept there
  bool dry_run = false, include_providers = false;
};

// behaviour.md G15.
Status LocalMove(const Context& parent, const GlobalOptions& global, const LocalMoveOptions& options, World& world);

// The ConfigMaps that keep a folder of manifests, with what `local apply` has written back, in a namespace: as many as
// their size asks for, named for the folder's first Cluster. kInvalidArgument for a file that fits into none or has a
// name that is no key or that of a file of `applied`, and for a folder without a Cluster. Files have references in the
// place of credentials; Secrets aren't kept.
Result<std::vector<kube::Object>> ManifestMaps(const std::string& folder, const std::string& ns);

}  // namespace capi::cli::local_clusters
