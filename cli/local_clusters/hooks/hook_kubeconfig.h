// The kubeconfig that a hook is given.
#pragma once

#include <string>

#include "base/result.h"

namespace capi::cli::local_clusters {

// Other tools write their clusters into the file that KUBECONFIG names, and make them the current ones. Of the plane's
// own, which leads all `local` commands, a hook gets a copy beside it, which goes with this object.
// Thread-compatible.
class HookKubeconfig {
 public:
  // `is_planes`: `path` is the plane's own; any other one is the user's, and given as it is.
  static Result<HookKubeconfig> Of(const std::string& path, bool is_planes);
  HookKubeconfig(HookKubeconfig&& other) noexcept;
  HookKubeconfig& operator=(HookKubeconfig&&) = delete;
  ~HookKubeconfig();

  const std::string& path() const { return path_; }

 private:
  HookKubeconfig(std::string path, bool is_copy) : path_(std::move(path)), is_copy_(is_copy) {}

  std::string path_;
  bool is_copy_;
};

}  // namespace capi::cli::local_clusters
