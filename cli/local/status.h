// `clusterctl local status`: the processes of a plane.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/frame/world.h"
#include "kube/meta/object.h"
#include "local/plane/state.h"

namespace capi::cli {

// The flags. A value.
struct LocalStatusOptions {
  std::string folder;
  std::string output = "table";
};

// How a plane is; each has an exit code of its own (behaviour.md G8).
enum class PlaneHealth { kReady, kNotReady, kDown };

Result<PlaneHealth> LocalStatus(const Context& ctx, const LocalStatusOptions& options, World& world);

// The processes of a Pod of the node, one for each container, and before them those of init containers that aren't
// through: "capi-system/capi-controller-manager-x". Pure.
std::vector<local::ProcessState> ProcessesOf(const kube::Object& pod);

// The ports at which the containers of such a Pod listen, each with the one of this machine that it is led to. Pure.
std::vector<std::pair<int, int>> PortsOf(const kube::Object& pod);

// "3s", "5m", "2h", "4d".
std::string ShortDuration(std::chrono::seconds duration);

}  // namespace capi::cli
