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
  std::string At(const std::string& path) { return std::filesystem::path(temp_ / path).lexically_normal(); }
  TempFolder temp_;
  std::map<std::string, std::string> environment_;
};

// Rule G1: those of --programs alone; else KUBEBUILDER_ASSETS, beside clusterctl, PATH, in this order, for each
// program.
TEST_F(Programs, AreLookedForInOrder) {
  for (const char* name : {"etcd", "kube-apiserver", "kube-controller-manager"}) {
    for (const char* folder : {"flag", "assets", "beside", "path"}) Put(std::string(folder) + "/" + name);
  }
  environment_ = {{"KUBEBUILDER_ASSETS", temp_ / "assets"}, {"PATH", temp_ / "nothing" + ":" + (temp_ / "path")}};
  EXPECT_EQ(Find(temp_ / "flag")->etcd, At("flag/etcd"));
  EXPECT_EQ(Find()->apiserver, At("assets/kube-apiserver"));
  environment_.erase("KUBEBUILDER_ASSETS");
  EXPECT_EQ(Find()->controller_manager, At("beside/kube-controller-manager"));
  std::filesystem::remove_all(temp_ / "beside");
  EXPECT_EQ(Find()->etcd, At("path/etcd"));
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
  auto found = Find();
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.code(), Code::kNotFound);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr("kube-apiserver not found"), Not(HasSubstr("etcd and")), HasSubstr("KUBEBUILDER_ASSETS"),
                    HasSubstr(temp_ / "beside"), HasSubstr("PATH"), HasSubstr("--programs")));
}

// Rule G1: the supervisor looks for them in another working folder.
TEST_F(Programs, AreNotLookedForInRelativeFolders) {
  for (const char* name : {"etcd", "kube-apiserver"}) Put(std::string("path/") + name);
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(temp_.path());
  environment_ = {{"PATH", "path"}};
  EXPECT_EQ(Find().code(), Code::kNotFound);
  const Getenv getenv = [](const std::string& name) { return name == "PATH" ? std::optional("path") : std::nullopt; };
  EXPECT_EQ(FindProgram("etcd", "", getenv), "");
  environment_ = {{"KUBEBUILDER_ASSETS", "path"}, {"PATH", temp_ / "path"}};
  const auto refused = Find();
  std::filesystem::current_path(before);
  ASSERT_FALSE(refused.ok()) << "etcd of PATH";
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("KUBEBUILDER_ASSETS is \"path\""), HasSubstr("--programs")));
  EXPECT_TRUE(Find(temp_ / "path").ok());
}

// Rule G1: etcd of one version with the API server of another would be nobody's wish.
TEST_F(Programs, WhatTheNamedFolderLacksIsNotTakenFromElsewhere) {
  for (const char* name : {"etcd", "kube-apiserver", "kube-controller-manager"}) Put(std::string("path/") + name);
  environment_ = {{"PATH", temp_ / "path"}};
  Put("flag/etcd");
  auto found = Find(temp_ / "flag");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.code(), Code::kNotFound);
  EXPECT_THAT(found.error().message, AllOf(HasSubstr("kube-apiserver not found; looked in --programs "),
                                           HasSubstr(temp_ / "flag"), Not(HasSubstr("PATH"))));
  Put("flag/kube-apiserver");
  found = Find(temp_ / "flag");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->apiserver, At("flag/kube-apiserver"));
  EXPECT_EQ(found->controller_manager, "");
}

}  // namespace
}  // namespace capi::local
