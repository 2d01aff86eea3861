#include "cli/local_clusters/hooks/hook_kubeconfig.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/files.h"
#include "base/testing/temp_folder.h"
#include "base/testing/value_or_abort.h"

namespace capi::cli::local_clusters {
namespace {

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
  EXPECT_EQ(ValueOrAbort(ReadFile(own), "own"), "the plane's");
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
