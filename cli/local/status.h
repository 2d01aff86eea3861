// `clusterctl local status`: the processes of a plane.
#pragma once

#include <chrono>
#include <string>

#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct LocalStatusOptions {
  std::string folder;
  std::string output = "table";
};

// How a plane is; each has an exit code of its own (behaviour.md G8).
enum class PlaneHealth { kReady, kNotReady, kDown };

Result<PlaneHealth> LocalStatus(const Context& ctx, const LocalStatusOptions& options, World& world);

// "3s", "5m", "2h", "4d".
std::string ShortDuration(std::chrono::seconds duration);

}  // namespace capi::cli
