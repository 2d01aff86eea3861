#include "operator/inputs.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "base/files.h"
#include "base/testing/temp_folder.h"

namespace capi::ops {
namespace {

// I2: the file's registry; without a file that of this program is all there is.
TEST(LoadSettings, AFileMayBeMissingButHasToBeRead) {
  const TempFolder folder;
  const std::string file = folder / "inputs.yaml";
  ASSERT_TRUE(WriteFile(file, "images: {all: {repository: mirror.example.org}}\n").ok());
  const char* none[] = {nullptr};
  auto load = [&](const std::string& path) { return LoadSettings({.clusterctl_config = path}, none); };
  auto missing = load(file + ".missing"), there = load(file), unreadable = load(folder.path());
  ASSERT_TRUE(missing.ok());
  EXPECT_EQ(missing->Digest(), Settings{}.Digest());
  ASSERT_TRUE(there.ok()) << there.error().message;
  EXPECT_NE(there->Digest(), missing->Digest());
  ASSERT_FALSE(unreadable.ok());
  EXPECT_EQ(unreadable.code(), Code::kInvalidArgument);
}

// F8: releases come through the proxy of the environment, as everything that Go programs fetch.
TEST(SourcesFrom, TheEnvironmentNamesTokenAndProxies) {
  const std::map<std::string, std::string> environment = {{"GITHUB_TOKEN", "t"},
                                                          {"GITLAB_ACCESS_TOKEN", "l"},
                                                          {"HTTPS_PROXY", "http://p:3128"},
                                                          {"http_proxy", "http://q"},
                                                          {"NO_PROXY", "example.org"}};
  SourceOptions sources = SourcesFrom({}, [environment](const char* name) -> const char* {
    auto it = environment.find(name);
    return it == environment.end() ? nullptr : it->second.c_str();
  });
  EXPECT_EQ(sources.github.token, "t");
  EXPECT_EQ(sources.github.proxy.url, "http://p:3128");
  EXPECT_EQ(sources.github.proxy.http_url, "http://q") << "of each redirect's own scheme";
  EXPECT_EQ(sources.github.proxy.no_proxy, "example.org");
  EXPECT_EQ(sources.gitlab.token, "l");
  EXPECT_EQ(sources.gitlab.proxy.url, "http://p:3128");
  EXPECT_EQ(sources.oci.proxy.url, "http://p:3128");
  EXPECT_EQ(sources.oci.user_agent, sources.github.user_agent);
  EXPECT_TRUE(sources.allowed.empty());
  for (auto [workers, at_once] : {std::pair(1, 1u), {2, 1u}, {4, 3u}}) {  // T13
    EXPECT_EQ(SourcesFrom({.concurrency = workers}, [](const char*) -> const char* { return nullptr; }).at_once,
              at_once);
  }
  EXPECT_EQ(SourcesFrom({.allowed_sources = {"a"}}, [](const char*) -> const char* { return nullptr; }).allowed.size(),
            1u);
  SourceOptions bare = SourcesFrom({}, [](const char*) -> const char* { return nullptr; });
  EXPECT_EQ(bare.github.token, "");
  EXPECT_EQ(bare.gitlab.token, "");
  EXPECT_EQ(bare.github.proxy.url, "");
}

}  // namespace
}  // namespace capi::ops
