// Who listens on a port of this machine, as /proc tells, and where nobody does (behaviour.md G5).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"

namespace capi::local {

// A value. All is 0 and "" where it is a process of another user, whose descriptors nobody may see.
struct Listener {
  pid_t pid = 0, group = 0;
  std::string name;
};

// Of TCP, at 127.0.0.1 or at all addresses; nullopt where nobody does. Thread-safe.
std::optional<Listener> ListenerOf(int port);

// Somebody of that process group does.
bool GroupListens(pid_t group, int port);

// A port that nobody listens on, whatever the address. kUnavailable where there is none. Thread-safe.
Result<int> FreePort();

}  // namespace capi::local
