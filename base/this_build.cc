#include "base/this_build.h"

#include <fmt/format.h>

#include "base/version.h"
#include "build_info.h"

namespace capi {
namespace {

std::string Compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string Platform() {
#if defined(__x86_64__)
  return "linux/amd64";
#elif defined(__aarch64__)
  return "linux/arm64";
#else
  return "linux";
#endif
}

}  // namespace

BuildInfo ThisBuild() {
  return {std::string(kProjectVersion), kBuildCommit, kBuildTreeState, kBuildDate, Compiler(), Platform()};
}

}  // namespace capi
