#include "local/plane/programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "base/files.h"
#include "base/testing/temp_folder.h"

namespace capi::local {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Programs : public ::testing::Test {
 protected:
  void Put(const std::string& path, unsigned mode = 0755) {
    std::filesystem::create_directories(std::filesystem::path(temp_ / path).parent_path());
    ASSERT_TRUE(WriteFile(temp_ / path, "", mode).ok());
  }
  Result<PlanePrograms> Find(const std::string& folder = "") {
    return FindPlanePrograms(folder, temp_ / "beside", [this](const std::string& name) {
      auto found = environment_.find(name);
      return found == environment_.end() ? std::nullopt : std::optional(found->second);
    });
  }
  TempFolder temp_;
  std::map<std::string, std::string> environment_;
};

// Rule G1: --programs, KUBEBUILDER_ASSETS, beside clusterctl, PATH, in this order, for each program.
TEST_F(Programs, AreLookedForInOrder) {
  for (const char* name : {"etcd", "kube-apiserver", "kube-controller-manager"}) {
    for (const char* folder : {"flag", "assets", "beside", "path"}) Put(std::string(folder) + "/" + name);
  }
  environment_ = {{"KUBEBUILDER_ASSETS", temp_ / "assets"}, {"PATH", temp_ / "nothing" + ":" + (temp_ / "path")}};
  EXPECT_EQ(Find(temp_ / "flag")->etcd, temp_ / "flag/etcd");
  EXPECT_EQ(Find()->apiserver, temp_ / "assets/kube-apiserver");
  environment_.erase("KUBEBUILDER_ASSETS");
  EXPECT_EQ(Find()->controller_manager, temp_ / "beside/kube-controller-manager");
  std::filesystem::remove_all(temp_ / "beside");
  EXPECT_EQ(Find()->etcd, temp_ / "path/etcd");
}

TEST_F(Programs, TheControllerManagerMayLack) {
  Put("path/etcd");
  Put("path/kube-apiserver");
  environment_ = {{"PATH", temp_ / "path"}};
  auto found = Find();
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->controller_manager, "");
}

TEST_F(Programs, WhatIsMissingIsNamedWithWhereItWasLookedFor) {
  Put("path/etcd");
  Put("path/kube-apiserver", 0644);  // no program
  environment_ = {{"PATH", temp_ / "path"}};
  auto found = Find(temp_ / "flag");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.code(), Code::kNotFound);
  EXPECT_THAT(found.error().message, AllOf(HasSubstr("kube-apiserver not found"), Not(HasSubstr("etcd and")),
                                           HasSubstr(temp_ / "flag"), HasSubstr("KUBEBUILDER_ASSETS"),
                                           HasSubstr(temp_ / "beside"), HasSubstr("PATH"), HasSubstr("--programs")));
}

}  // namespace
}  // namespace capi::local
