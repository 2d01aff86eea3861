#include "operator/inputs.h"

#include <gtest/gtest.h>

#include <map>

namespace capi::ops {
namespace {

// Releases come through the proxy of the environment, as everything that Go programs fetch.
TEST(SourcesFrom, TheEnvironmentNamesTokenAndProxies) {
  const std::map<std::string, std::string> environment = {
      {"GITHUB_TOKEN", "t"}, {"HTTPS_PROXY", "http://p:3128"}, {"http_proxy", "http://q"}, {"NO_PROXY", "example.org"}};
  SourceOptions sources = SourcesFrom({}, [environment](const char* name) -> const char* {
    auto it = environment.find(name);
    return it == environment.end() ? nullptr : it->second.c_str();
  });
  EXPECT_EQ(sources.github.token, "t");
  ASSERT_TRUE(sources.github.proxy);
  EXPECT_EQ(sources.github.proxy("https").url, "http://p:3128");
  EXPECT_EQ(sources.github.proxy("http").url, "http://q");
  EXPECT_EQ(sources.github.proxy("https").no_proxy, "example.org");
  SourceOptions bare = SourcesFrom({}, [](const char*) -> const char* { return nullptr; });
  EXPECT_EQ(bare.github.token, "");
  EXPECT_EQ(bare.github.proxy("https").url, "");
}

}  // namespace
}  // namespace capi::ops
