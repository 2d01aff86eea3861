// Processes of a plane whose supervisor is gone, that the kernel didn't end with it: children of its children.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/clock.h"

namespace capi::local {

// The variable that every process of a plane has in its environment, with the plane's id.
inline constexpr char kPlaneVariable[] = "CAPI_LOCAL_PLANE";

// Processes of this user that have it, but this one.
std::vector<pid_t> LeftoversOf(const std::string& plane);

// Kills them, and waits until they are gone, `limit` at most. To be called by who holds the plane's lock. How many
// there were.
size_t EndLeftovers(const std::string& plane, Millis limit);

}  // namespace capi::local
