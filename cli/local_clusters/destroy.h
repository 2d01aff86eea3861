// `clusterctl local destroy`: deletes Clusters with all that they have, and says what hangs; or a bootstrap machine
// alone.
#pragma once

#include <string>
#include <vector>

#include "cli/local_clusters/target.h"

namespace capi::cli::local_clusters {

// The flags. A value.
struct DestroyOptions {
  TargetOptions target;
  std::vector<std::string> names;
  std::string ns;  // "" for that of the context
  bool all = false, yes = false;
  std::string timeout = "30m";
};

// behaviour.md G14.
Status Destroy(const Context& parent, const GlobalOptions& global, const DestroyOptions& options, World& world);

// The flags. A value.
struct DestroyBootstrapOptions {
  TargetOptions target;
  std::vector<std::string> names;  // exactly one
  std::string ns, machine;         // `machine`: "" for NAME-bootstrap
  std::string timeout = "30m";
};

Status DestroyBootstrap(const Context& parent, const GlobalOptions& global, const DestroyBootstrapOptions& options,
                        World& world);

// What keeps an object that is being deleted: its finalizers, and what its conditions say of it. Pure.
std::string HangsBy(const kube::Object& object);

}  // namespace capi::cli::local_clusters
