// What the node knows of a Pod's containers. Values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace capi::local {

// How a process ended.
struct ContainerEnd {
  int exit_code = 0;    // as a shell has it: 128 + the signal
  std::string reason;   // "Completed", "Error"
  std::string message;  // the last lines of its log
  WallTime started, finished;
};

struct ContainerFacts {
  enum class State { kWaiting, kRunning, kEnded };

  std::string name, image;
  State state = State::kWaiting;
  std::string reason = "ContainerCreating", message;  // while it waits
  WallTime started{};                                 // of what runs
  bool began = false;                                 // its startup probe has succeeded, where it has one
  bool ready = false;
  int restarts = 0;
  // The last one; of a container that ended and isn't started again, its own.
  std::optional<ContainerEnd> end;
  std::string source;        // of its program, for people
  std::map<int, int> ports;  // its own -> of loopback
  int pid = 0;               // of what runs
};

struct PodFacts {
  WallTime started{};  // when the node saw the Pod
  std::vector<ContainerFacts> init, containers;
};

}  // namespace capi::local
