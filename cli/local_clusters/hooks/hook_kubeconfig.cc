#include "cli/local_clusters/hooks/hook_kubeconfig.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "base/files.h"

namespace capi::cli::local_clusters {

Result<HookKubeconfig> HookKubeconfig::Of(const std::string& path, bool is_planes) {
  if (!is_planes) return HookKubeconfig(path, false);
  const std::string text = TRY(ReadFile(path));
  // In the plane's folder, which goes with the plane: what a kill leaves is no more than what is there already.
  const std::string copy = fmt::format("{}-of-hook-{}", path, getpid());
  TRY(WriteFile(copy, text, 0600));
  return HookKubeconfig(copy, true);
}

HookKubeconfig::HookKubeconfig(HookKubeconfig&& other) noexcept
    : path_(std::move(other.path_)), is_copy_(std::exchange(other.is_copy_, false)) {}

HookKubeconfig::~HookKubeconfig() {
  if (is_copy_) unlink(path_.c_str());
}

}  // namespace capi::cli::local_clusters
