// Who listens on a port of this machine, as /proc tells (behaviour.md G5).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

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

}  // namespace capi::local
