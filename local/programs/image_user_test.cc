#include "local/programs/image_user.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/files.h"
#include "base/testing/temp_folder.h"

namespace capi::local {
namespace {

// G9: an image's own user, by number or by the names of its files.
TEST(ImageUser, IsReadAsImagesNameIt_G9) {
  TempFolder root;
  std::filesystem::create_directories(root / "etc");
  ASSERT_TRUE(
      WriteFile(root / "etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnonroot:x:65532:65533:n:/home:/none\n").ok());
  ASSERT_TRUE(WriteFile(root / "etc/group", "root:x:0:\nstaff:x:50:nonroot\n").ok());
  struct Case {
    const char* user;
    uid_t uid;
    gid_t gid;
  };
  const Case cases[] = {{"65532:65534", 65532, 65534}, {"65532", 65532, 65533},      {"1000", 1000, 0},
                        {"nonroot", 65532, 65533},     {"nonroot:staff", 65532, 50}, {"0:50", 0, 50}};
  for (const Case& c : cases) {
    auto ids = UserOf(c.user, root.path());
    ASSERT_TRUE(ids.ok() && ids->has_value()) << c.user;
    EXPECT_EQ((*ids)->user, c.uid) << c.user;
    EXPECT_EQ((*ids)->group, c.gid) << c.user;
  }
  EXPECT_FALSE(UserOf("", root.path()).value().has_value());
  for (const char* user : {"nobody", "nonroot:none", "99999999999", "-1", ":50"})
    EXPECT_EQ(UserOf(user, root.path()).code(), Code::kNotFound) << user;
}

TEST(ImageUser, MayStartWhatItCanReach_G9) {
  TempFolder folder;
  std::filesystem::create_directories(folder / "a/b");
  ASSERT_TRUE(WriteFile(folder / "a/b/program", "", 0755).ok());
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  const Program::UserIds stranger{54321, 54321}, root{0, 0};
  const std::string program = folder / "a/b/program";
  const bool reachable = MayStart(stranger, program);  // not where the test's own folder is private
  ASSERT_EQ(chmod((folder / "a").c_str(), 0700), 0);
  EXPECT_FALSE(MayStart(stranger, program));
  EXPECT_TRUE(MayStart(root, program));
  ASSERT_EQ(chmod((folder / "a").c_str(), 0711), 0);
  EXPECT_EQ(MayStart(stranger, program), reachable);
  ASSERT_EQ(chmod(program.c_str(), 0750), 0);
  EXPECT_FALSE(MayStart(stranger, program));
  EXPECT_FALSE(MayStart(stranger, folder / "none"));
}

}  // namespace
}  // namespace capi::local
