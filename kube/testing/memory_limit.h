// A limit of memory for child processes of a test, as a container has it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"

namespace capi::kube {

// A memory cgroup (version 1 or 2) for those processes that ProcessOptions::cgroup puts there. What they write to swap
// counts as well, where the kernel counts it. Thread-compatible.
class MemoryLimit {
 public:
  // kUnsupported where this process may make no cgroups, or the machine has none.
  static Result<std::unique_ptr<MemoryLimit>> Create(size_t bytes);
  // Removes it. Its processes have ended by then.
  ~MemoryLimit();

  const std::string& folder() const { return folder_; }
  // How many processes the kernel has killed for it.
  Result<size_t> Kills() const;

 private:
  MemoryLimit(std::string folder, bool second) : folder_(std::move(folder)), second_(second) {}
  Status Set(size_t bytes) const;

  const std::string folder_;
  const bool second_;  // version
};

}  // namespace capi::kube
