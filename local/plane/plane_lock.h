// Who runs the plane of a folder: one process at a time (behaviour.md G2).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"

namespace capi::local {

// A lock on a file, which ends with the process that holds it, however that ends; the kernel knows who that is, on a
// full disk too. Within a process it may be taken once, and SupervisorOf isn't to be asked while that has it: to close
// the file is to give the lock back. Thread-compatible.
class PlaneLock {
 public:
  enum class Who { kSupervisor, kOther };  // kOther: who ends a plane, or removes it

  // nullopt where another process holds it. Makes the file where it is missing.
  static Result<std::optional<PlaneLock>> TryTake(const std::string& path, Who who = Who::kOther);
  PlaneLock(PlaneLock&& other) noexcept;
  PlaneLock& operator=(PlaneLock&& other) noexcept;
  ~PlaneLock();

  // From now on this process has it until it ends, so that who finds it free finds no process, either.
  void KeepUntilExit() && { fd_ = -1; }

 private:
  explicit PlaneLock(int fd) : fd_(fd) {}
  int fd_;
};

// The other process that holds it as the supervisor; nullopt where none does. kFailedPrecondition for one that this
// process can't send signals to.
Result<std::optional<pid_t>> SupervisorOf(const std::string& path);

}  // namespace capi::local
