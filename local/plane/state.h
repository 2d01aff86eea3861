// What the supervisor of a plane says of it, in a file of the plane's folder (behaviour.md G8).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace capi::local {

// One process. A value.
struct ProcessState {
  std::string name;  // "etcd"
  pid_t pid = 0;     // 0 while it doesn't run
  WallTime started{};
  int restarts = 0;
  bool ready = false;
  int port = 0;         // of loopback; 0 for none
  std::string message;  // why it isn't ready, or ended last
  bool operator==(const ProcessState&) const = default;
};

// A value.
struct PlaneState {
  pid_t supervisor = 0;
  WallTime started{};
  bool ready = false;   // the API server answers, and the node runs
  int port = 0;         // the API server's
  std::string message;  // what is being done, or why it isn't ready
  std::vector<ProcessState> processes;
  bool operator==(const PlaneState&) const = default;
};

// kNotFound where there is none; kInvalidArgument where it can't be read.
Result<PlaneState> ReadState(const std::string& path);
// Where it fails there is no file any more: one of before would tell of processes that are gone. A full disk, though,
// has room for it as a rule, in the place of the one that is there.
Status WriteState(const std::string& path, const PlaneState& state);

// The file of a run that begins: not ready, with the port of the one before. Where it can't be written there is none: a
// supervisor may have the number of an earlier one, whose words are not to be taken for its own.
void BeginState(const std::string& path, pid_t supervisor, WallTime now);

}  // namespace capi::local
