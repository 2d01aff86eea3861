// Starting and ending the supervisor of a plane.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/context.h"
#include "cli/frame/live_lines.h"
#include "cli/frame/world.h"
#include "local/plane/plane_folder.h"
#include "local/plane/plane_lock.h"
#include "local/plane/settings.h"
#include "local/plane/state.h"

namespace capi::cli {

// What the supervisor with this pid has to be started anew for, in words that follow "with": it is of another program
// than this one, has another environment than this one in variables that `settings` names, or can't be looked at. ""
// for nothing.
std::string WhyOutdated(pid_t supervisor, const local::Settings& settings, const Getenv& getenv);

// The lock of a plane that doesn't run, for what is written before one does; who ends the plane at this moment is
// waited for. kUnavailable where the plane runs by now, or was deleted.
Result<local::PlaneLock> LockPlane(const Context& ctx, const local::PlaneFolder& folder);

// Starts the supervisor; its pid. It is a child of this process until that ends, and takes the lock.
Result<pid_t> StartSupervisor(const local::PlaneFolder& folder);

// Waits until the plane and its processes are ready, and shows how far it is. `child`: the supervisor that was started,
// 0 for none. An error has the end of its log; kUnavailable where somebody else has ended it, where it wasn't needed
// and the one that was there has ended, for `patience`, or where the plane was deleted before this one had its lock.
Result<local::PlaneState> AwaitPlane(const Context& ctx, const local::PlaneFolder& folder, pid_t child,
                                     LiveLines& lines, Millis patience = Millis(0));

// Ends what outlived the supervisor of a plane, whose lock the caller has, and removes its private folder; whether
// there was such a process.
bool EndWhatIsLeft(const local::PlaneFolder& folder, const Getenv& getenv);

// A plane that doesn't run, and as long as the lock lives nobody runs it. Thread-compatible.
struct StoppedPlane {
  bool ran = false;
  local::PlaneLock lock;
};

// Ends the supervisor with all of the plane's processes: SIGTERM, SIGKILL after `grace`. What outlived it is ended too,
// and nothing of the run is left. kUnavailable where somebody else has deleted the plane meanwhile.
Result<StoppedPlane> StopPlane(const Context& ctx, const local::PlaneFolder& folder, const Getenv& getenv,
                               Millis grace = Seconds(5));

}  // namespace capi::cli
