// The kubeconfig that a hook is given.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "local/programs/scratch.h"

namespace capi::cli::local_clusters {

// Other tools write their clusters into the file that KUBECONFIG names, and make them the current ones. Of the plane's
// own, which leads all `local` commands, a hook gets a copy in a folder beside it, which goes with this object, or,
// where the process was killed, when the next copy is made. Thread-compatible.
class HookKubeconfig {
 public:
  // `is_planes`: `path` is the plane's own; any other one is the user's, and given as it is.
  static Result<HookKubeconfig> Of(const std::string& path, bool is_planes);

  const std::string& path() const { return path_; }

 private:
  HookKubeconfig(std::string path, std::unique_ptr<local::Scratch> folder);

  std::string path_;
  std::unique_ptr<local::Scratch> folder_;  // null for the user's own
};

}  // namespace capi::cli::local_clusters
