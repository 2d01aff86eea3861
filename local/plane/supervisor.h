// What runs a plane: one process, whose children are all the others (behaviour.md G3).
#pragma once

#include <string>
#include <vector>

#include "base/context.h"
#include "local/plane/plane_folder.h"
#include "local/plane/programs.h"
#include "local/programs/programs.h"

namespace capi::local {

// A value but for `images`, which outlives the run.
struct SupervisorOptions {
  PlaneFolder folder;
  std::string private_folder;  // PlaneFolder::Private
  PlanePrograms programs;
  std::vector<std::string> environment;  // "NAME=value" of managers (NodeOptions)
  Programs& images;
};

// Runs the plane of the folder until the context stops, and ends all of its processes. Each of them that ends before is
// started again, and the kernel ends them all with this one, whatever ends that. kAlreadyExists where the plane runs
// already; any other error: it couldn't come up. The plane's lock stays this process's until its end.
Status Supervise(const Context& ctx, const SupervisorOptions& options);

}  // namespace capi::local
