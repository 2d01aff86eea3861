#include "base/processes/log_end.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/processes/temporary_folder.h"

namespace capi {
namespace {

TEST(LastLines, AreTheLastOnes) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  ASSERT_TRUE(WriteFile(path, "one\ntwo\nthree\n").ok());
  EXPECT_EQ(LastLines(path, 2), "two\nthree");
  EXPECT_EQ(LastLines(path, 9), "one\ntwo\nthree");
  EXPECT_EQ(LastLines(folder.path() + "/none", 2), folder.path() + "/none: No such file or directory");
}

// One that is larger than any memory is read as fast.
TEST(EndOfLog, ReadsItsEndAlone) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  ASSERT_TRUE(WriteFile(path, "").ok());
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
  auto text = EndOfLog(path);
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(*text, "") << "a line that is cut isn't told";
  std::string long_line(static_cast<size_t>(kLogEnd) - 6, 'x');
  ASSERT_TRUE(WriteFile(path, "cut " + long_line + "\nlast\n").ok());
  EXPECT_EQ(*EndOfLog(path), "\nlast\n");
}

TEST(EndOfLog, BeginsWhereItIsTold) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  ASSERT_TRUE(WriteFile(path, "before\nnow\n").ok());
  EXPECT_EQ(*EndOfLog(path, 7), "now\n");
  EXPECT_EQ(*EndOfLog(path, 11), "");
  EXPECT_EQ(*EndOfLog(path, 99), "before\nnow\n") << "it was begun anew";
}

}  // namespace
}  // namespace capi
