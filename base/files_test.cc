#include "base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

namespace capi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Files : public ::testing::Test {
 protected:
  Files() {
    std::string pattern = (std::filesystem::temp_directory_path() / "files_test.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(Files, WritesWholeAndReadsBack) {
  const std::string path = folder_ + "/f";
  for (const std::string& content : {std::string("one"), std::string(1 << 20, 'x'), std::string()}) {
    ASSERT_TRUE(WriteFile(path, content, 0600).ok());
    EXPECT_EQ(*ReadFile(path), content);
  }
  struct stat info = {};
  stat(path.c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_THAT(*ListDir(folder_), ElementsAre("f"));  // nothing left beside it
}

// Under its name when it is whole, and gone where it never is.
TEST_F(Files, WritesPieceByPiece) {
  const std::string path = folder_ + "/f";
  ASSERT_TRUE(WriteFile(path, "before").ok());
  for (bool keeps : {false, true}) {
    auto file = NewFile::Create(path, 0640).value();
    for (const char* piece : {"one ", "", "two"}) ASSERT_TRUE(file->Append(piece).ok());
    EXPECT_EQ(*ReadFile(file->place()), "one two");
    EXPECT_THAT(file->place(), StartsWith(folder_ + "/.f."));  // what a kill leaves is hidden
    EXPECT_EQ(*ReadFile(path), "before");
    EXPECT_EQ(keeps && file->Sync().ok() && file->Keep().ok(), keeps);
    file.reset();
    EXPECT_THAT(*ListDir(folder_), ElementsAre("f"));
  }
  EXPECT_EQ(*ReadFile(path), "one two");
  struct stat info = {};
  stat(path.c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(Files, SayWhatIsWrong) {
  ASSERT_TRUE(WriteFile(folder_ + "/f", "12345").ok());
  struct Case {
    Error error;
    Code code;
    std::string_view message;
  };
  const Case cases[] = {
      {ReadFile(folder_ + "/none").error(), Code::kNotFound, "/none: No such file"},
      {ReadFile(folder_ + "/f/under").error(), Code::kNotFound, "/f/under: "},
      {ReadFile(folder_).error(), Code::kInvalidArgument, "is a folder"},
      {ReadFile(folder_ + "/f", 4).error(), Code::kInvalidArgument, "larger than 4 bytes"},
      {WriteFile(folder_ + "/none/f", "x").error(), Code::kNotFound, "/none/f: "},
      {ListDir(folder_ + "/none").error(), Code::kNotFound, "/none: "},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(c.error.code, c.code) << c.error.message;
    EXPECT_THAT(c.error.message, HasSubstr(std::string(c.message)));
  }
  EXPECT_TRUE(ReadFile(folder_ + "/f", 5).ok());
}

TEST_F(Files, ListsSorted) {
  for (const char* name : {"b", "a", ".c"}) ASSERT_TRUE(WriteFile(folder_ + "/" + name, "").ok());
  EXPECT_THAT(*ListDir(folder_), ElementsAre(".c", "a", "b"));
}

}  // namespace
}  // namespace capi
