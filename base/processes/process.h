// A child process: its output in a log file, and an end with its parent at the latest.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace capi {

struct ProcessOptions {
  std::vector<std::string> argv;         // argv[0] is a path
  std::string log_file;                  // standard error, appended; "" for /dev/null
  std::string output_file;               // standard output; "" for the log file too
  std::string folder;                    // working folder; "" for the parent's
  std::vector<std::string> environment;  // "NAME=value", beside or instead of the parent's
  bool inherit_environment = true;       // without it, `environment` is all that the child has
  std::string cgroup;                    // folder of the control group to run in; "" for the parent's
};

// The kernel kills the child when this process dies, however it dies. Thread-safe.
class Process {
 public:
  // kNotFound when argv[0] can't be run; kUnavailable where the system has no thread for it; kInternal names the file
  // or folder that can't be had.
  static Result<std::unique_ptr<Process>> Start(ProcessOptions options);
  ~Process();  // SIGKILL, and waits for the end

  pid_t pid() const;
  bool running() const;
  void Signal(int number);
  // Waits for the end; nullopt after `timeout`. As a shell has it: the exit code, or 128 + the signal.
  std::optional<int> Wait(Millis timeout);
  // Sends `number`, then SIGKILL after `grace`. Returns what Wait does.
  int Stop(int number = SIGTERM, Millis grace = Seconds(10));

  const ProcessOptions& options() const;
  // The last `lines` of the log, for the message about a failed start.
  std::string LogTail(size_t lines = 20) const;

 private:
  struct State;
  explicit Process(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Runs `argv` to its end and returns its standard output. kInternal with the exit code when that isn't 0.
Result<std::string> RunProgram(const std::vector<std::string>& argv, const std::string& folder, Millis timeout);

}  // namespace capi
