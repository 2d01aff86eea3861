// A temporary folder that goes with its owner.
#pragma once

#include <string>

namespace capi {

// Made under $TMPDIR or /tmp; ends the process when it can't be. Folders that a killed process left behind are removed
// by the next one that makes a folder. Immutable.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;  // of the folder itself: whoever gets it knows that the owner is gone
};

}  // namespace capi
