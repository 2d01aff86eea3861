#include "cli/local_clusters/hooks/hook_kubeconfig.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "base/files.h"
#include "base/testing/temp_folder.h"
#include "base/testing/value_or_abort.h"

namespace capi::cli::local_clusters {
namespace {

std::vector<std::string> FoldersIn(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory()) out.push_back(entry.path().string());
  }
  return out;
}

// behaviour.md G1, G11: `kind create cluster` in a hook made its own cluster that of all `local` commands.
TEST(HookKubeconfig, OfAPlaneIsACopy) {
  TempFolder temp;
  const std::string own = temp / "kubeconfig";
  ASSERT_TRUE(WriteFile(own, "the plane's", 0600).ok());
  std::string copy;
  {
    const HookKubeconfig given = ValueOrAbort(HookKubeconfig::Of(own, true), "copy");
    copy = given.path();
    EXPECT_EQ(ValueOrAbort(ReadFile(copy), "copy"), "the plane's");
    struct stat file {};
    ASSERT_EQ(stat(copy.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0600u);
    ASSERT_TRUE(WriteFile(copy, "another's").ok());
  }
  EXPECT_FALSE(std::filesystem::exists(copy));
  EXPECT_TRUE(FoldersIn(temp.path()).empty());
  EXPECT_EQ(ValueOrAbort(ReadFile(own), "own"), "the plane's");
}

// It leads an administrator: a second Ctrl-C in each hook left one more.
TEST(HookKubeconfig, OfAHookThatWasKilledGoesWithTheNextOne) {
  TempFolder temp;
  const std::string own = temp / "kubeconfig";
  ASSERT_TRUE(WriteFile(own, "the plane's", 0600).ok());
  const pid_t child = fork();
  if (child == 0) {
    auto given = HookKubeconfig::Of(own, true);
    _exit(given.ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  std::vector<std::string> left = FoldersIn(temp.path());
  ASSERT_EQ(left.size(), 1u);
  // A young one may not have its lock yet.
  std::filesystem::last_write_time(left[0], std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2));
  const HookKubeconfig other = ValueOrAbort(HookKubeconfig::Of(own, true), "copy");
  EXPECT_FALSE(std::filesystem::exists(left[0]));
  const HookKubeconfig beside = ValueOrAbort(HookKubeconfig::Of(own, true), "copy");
  EXPECT_TRUE(std::filesystem::exists(other.path())) << "another run's hook";
  EXPECT_NE(other.path(), beside.path());
}

TEST(HookKubeconfig, OfTheUserIsHisOwn) {
  TempFolder temp;
  const std::string own = temp / "kubeconfig";
  ASSERT_TRUE(WriteFile(own, "his", 0600).ok());
  { EXPECT_EQ(ValueOrAbort(HookKubeconfig::Of(own, false), "his").path(), own); }
  EXPECT_TRUE(std::filesystem::exists(own));
}

}  // namespace
}  // namespace capi::cli::local_clusters
