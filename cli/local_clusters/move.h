// `clusterctl local move`: a cluster that was made locally becomes its own management cluster, and keeps the manifests
// that it was made of.
#pragma once

#include <string>
#include <vector>

#include "cli/local_clusters/manifest_folder.h"
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

// What a move keeps of a folder of manifests, as it was when it was read. A value.
struct Kept {
  std::vector<Manifest> manifests;  // without what `local apply` has written back
  std::string cluster;              // the first one's name, for which the ConfigMaps are named
  std::vector<kube::Object> maps;   // as many as their size asks for; one at least
};
// With what `local apply` has written back, in ConfigMaps of a namespace. kInvalidArgument for a file that fits into
// none or has a name that is no key or that of a file of `applied`, and for a folder without a Cluster. Files have
// references in the place of credentials; Secrets aren't kept.
Result<Kept> ReadKept(const std::string& folder, const std::string& ns);

}  // namespace capi::cli::local_clusters
