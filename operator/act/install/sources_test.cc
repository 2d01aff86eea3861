#include "operator/act/install/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::ops {
namespace {

using ::testing::HasSubstr;

// I2: what a spec may name a repository by.
TEST(Sources, ARepositoryIsNamedByAFileOrByItsPageOfReleases) {
  Settings settings;
  Sources sources(settings, {});
  api::Provider provider;
  provider.id = {api::ProviderType::kInfrastructure, "ns", "myazure"};
  provider.spec.fetch_config = api::FetchConfig{};
  auto open = [&](const std::string& url) {
    provider.spec.fetch_config->url = url;
    return sources.Open(provider, "");
  };
  const std::pair<const char*, const char*> right[] = {
      {"https://github.com/myorg/azure/releases", "infrastructure-components.yaml"},
      {"https://github.com/myorg/azure/releases/", "infrastructure-components.yaml"},
      {"https://github.com/myorg/azure/releases/latest/own.yaml", "own.yaml"},
      {"https://github.com/myorg/azure/releases/v1.0.0/own.yaml", "own.yaml"},
  };
  for (const auto& [url, file] : right) {
    auto repository = open(url);
    ASSERT_TRUE(repository.ok()) << url << ": " << repository.error().message;
    EXPECT_EQ((*repository)->Describe(), "github.com/myorg/azure") << url;
    EXPECT_EQ((*repository)->ComponentsFile(), file) << url;
  }
  for (const char* wrong : {"https://github.com/myorg/azure", "https://github.com/releases",
                            "https://github.com/myorg/azure/releases/latest"}) {
    auto repository = open(wrong);
    ASSERT_FALSE(repository.ok()) << wrong;
    EXPECT_THAT(repository.error().message, HasSubstr("spec.fetchConfig.url"));
  }
}

}  // namespace
}  // namespace capi::ops
