#include "api/testing/release_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.h"

namespace capi::api {
namespace {

// Vendors publish more with a release than its components, and a local repository has all of it.
TEST(ReleaseFolder, TakesComponentsAlone) {
  std::string pattern = testing::TempDir() + "/release-XXXXXX";
  ReleaseFolder release{.type = ProviderType::kInfrastructure, .name = "a", .version = "v1.0.0", .path = {}};
  release.path = mkdtemp(pattern.data());
  for (const char* file : {"metadata.yaml", "cluster-template.yaml", "a.yaml", "infrastructure-components.yaml.sig",
                           "infrastructure-components-supervisor.yaml", "infrastructure-components.yaml"}) {
    ASSERT_TRUE(WriteFile(release.path + "/" + file, file).ok());
  }
  EXPECT_THAT(release.ComponentsFiles(),
              testing::ElementsAre("infrastructure-components.yaml", "infrastructure-components-supervisor.yaml"));
  EXPECT_EQ(release.Components(), "infrastructure-components.yaml");
  EXPECT_EQ(release.Text("metadata.yaml"), "metadata.yaml");
  std::filesystem::remove_all(release.path);
}

}  // namespace
}  // namespace capi::api
