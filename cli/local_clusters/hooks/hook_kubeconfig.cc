#include "cli/local_clusters/hooks/hook_kubeconfig.h"

#include <filesystem>
#include <utility>

#include "base/files.h"

namespace capi::cli::local_clusters {

HookKubeconfig::HookKubeconfig(std::string path, std::unique_ptr<local::Scratch> folder)
    : path_(std::move(path)), folder_(std::move(folder)) {}

Result<HookKubeconfig> HookKubeconfig::Of(const std::string& path, bool is_planes) {
  if (!is_planes) return HookKubeconfig(path, nullptr);
  const std::string text = TRY(ReadFile(path));
  // In the plane's folder, which goes with the plane: what a kill leaves is no more than what is there already.
  auto folder = TRY(local::Scratch::Create(std::filesystem::path(path).parent_path().string()));
  std::string copy = folder->path() + "/kubeconfig";
  TRY(WriteFile(copy, text, 0600));
  return HookKubeconfig(std::move(copy), std::move(folder));
}

}  // namespace capi::cli::local_clusters
