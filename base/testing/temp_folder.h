// For tests: a folder of one's own, which goes with the test. One with a fixed name is another run's, too.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace capi {

// Thread-compatible.
class TempFolder {
 public:
  TempFolder() {
    path_ = ::testing::TempDir() + "/test-XXXXXX";
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace capi
