#include "operator/inputs.h"

#include <gtest/gtest.h>

#include <map>

namespace capi::ops {
namespace {

// F8: releases come through the proxy of the environment, as everything that Go programs fetch.
TEST(SourcesFrom, TheEnvironmentNamesTokenAndProxies) {
  const std::map<std::string, std::string> environment = {
      {"GITHUB_TOKEN", "t"}, {"HTTPS_PROXY", "http://p:3128"}, {"http_proxy", "http://q"}, {"NO_PROXY", "example.org"}};
  SourceOptions sources = SourcesFrom({}, [environment](const char* name) -> const char* {
    auto it = environment.find(name);
    return it == environment.end() ? nullptr : it->second.c_str();
  });
  EXPECT_EQ(sources.github.token, "t");
  EXPECT_EQ(sources.github.proxy.url, "http://p:3128");
  EXPECT_EQ(sources.github.proxy.http_url, "http://q") << "of each redirect's own scheme";
  EXPECT_EQ(sources.github.proxy.no_proxy, "example.org");
  SourceOptions bare = SourcesFrom({}, [](const char*) -> const char* { return nullptr; });
  EXPECT_EQ(bare.github.token, "");
  EXPECT_EQ(bare.github.proxy.url, "");
}

}  // namespace
}  // namespace capi::ops
