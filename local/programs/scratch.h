// Folders that are there under their name only when they are whole.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace capi::local {

// A folder under a name of its own, beside the finished ones; it goes with this object, or, where the process was
// killed, with the next one that is made there. Thread-compatible.
class Scratch {
 public:
  // In `parent`, which is made where it isn't there.
  static Result<std::unique_ptr<Scratch>> Create(const std::string& parent);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }
  // On the disk, under this name. Where that is there already it stays as it is, and this one goes: who came first made
  // the same.
  Status Keep(const std::string& name);

 private:
  Scratch(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;  // "" once it is kept
  const int lock_;    // of the folder itself: whoever gets it knows that its owner is gone
};

}  // namespace capi::local
