#include "local/plane/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/files.h"
#include "base/testing/temp_folder.h"
#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"
#include "local/plane/authority.h"

namespace capi::local {
namespace {

using ::testing::HasSubstr;

std::string Own(int port) { return KubeconfigText({"ca", {"cert", "key"}}, port); }

// What another tool makes of it: an entry of its own, which is the current one.
std::string WithOthers(int port) {
  Json config = ValueOrAbort(ParseYaml(Own(port)), "own");
  config["clusters"].push_back({{"name", "kind"}, {"cluster", {{"server", "https://127.0.0.1:1"}}}});
  config["users"].push_back({{"name", "kind"}, {"user", {{"token", "theirs"}}}});
  config["contexts"].push_back({{"name", "kind"}, {"context", {{"cluster", "kind"}, {"user", "kind"}}}});
  config["current-context"] = "kind";
  return "# a note\n" + ToYaml(config);
}

class Kubeconfig : public ::testing::Test {
 protected:
  std::string Read() { return ValueOrAbort(ReadFile(path_), "kubeconfig"); }
  static Json Parsed(const std::string& text) { return ValueOrAbort(ParseYaml(text), "kubeconfig"); }
  // Of a plane at that port.
  Leads Where(int port) {
    EXPECT_TRUE(WriteFile(temp_ / "own", Own(port), 0600).ok());
    return WhereLeads(path_, temp_ / "own");
  }
  void Write(const std::string& text) { ASSERT_TRUE(WriteFile(path_, text, 0600).ok()); }

  TempFolder temp_;
  const std::string path_ = temp_ / "kubeconfig";
};

// Rule G1.
TEST_F(Kubeconfig, IsWrittenWhereNobodyElseHasAnythingInIt) {
  for (const char* before : {"", "\n", "{}\n", "clusters: null\n"}) {
    if (*before != '\0') Write(before);
    ASSERT_TRUE(PutIntoKubeconfig(path_, Own(1)).ok()) << before;
    EXPECT_EQ(Parsed(Read()), Parsed(Own(1))) << before;
    EXPECT_EQ(Where(1), Leads::kToThePlane) << before;
  }
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_TRUE(PutIntoKubeconfig(path_, Own(2)).ok());
  EXPECT_EQ(Parsed(Read()), Parsed(Own(2))) << "another port";
  EXPECT_EQ(Where(1), Leads::kElsewhere);
}

// Rule G1: as kubens and `kubectl config unset` leave it.
TEST_F(Kubeconfig, KeepsWhatAPersonHasSetForThePlane) {
  Json config = Parsed(Own(1));
  config["contexts"][0]["context"]["namespace"] = "team";
  config["preferences"] = {{"colors", true}};
  Write(ToYaml(config));
  ASSERT_TRUE(PutIntoKubeconfig(path_, Own(2)).ok());
  const Json merged = Parsed(Read());
  EXPECT_EQ(GetString(merged["contexts"][0], {"context", "namespace"}), "team");
  EXPECT_TRUE(GetBool(merged, {"preferences", "colors"}));
  EXPECT_EQ(Where(2), Leads::kToThePlane);
}

// Rule G1: the file may be the only one that has another tool's cluster.
TEST_F(Kubeconfig, KeepsWhatOthersHavePutThere) {
  const std::string before = WithOthers(1);
  Write(before);
  ASSERT_TRUE(PutIntoKubeconfig(path_, Own(1)).ok());
  EXPECT_EQ(Read(), before) << "nothing was to be put right";
  EXPECT_EQ(Where(1), Leads::kByItsContext);
  ASSERT_TRUE(PutIntoKubeconfig(path_, Own(2)).ok());
  EXPECT_EQ(ValueOrAbort(ParseYaml(Read()), "merged"), ValueOrAbort(ParseYaml(WithOthers(2)), "wanted"));
}

TEST_F(Kubeconfig, PutsItsEntriesBesideThoseOfOthers) {
  Write("contexts: [{name: kind, context: {cluster: kind}}]\ncurrent-context: kind\n");
  ASSERT_TRUE(PutIntoKubeconfig(path_, Own(2)).ok());
  const Json merged = ValueOrAbort(ParseYaml(Read()), "merged");
  EXPECT_EQ(GetString(merged, {"current-context"}), "kind");
  EXPECT_EQ(merged["contexts"].size(), 2u);
  EXPECT_EQ(GetString(merged["clusters"][0], {"cluster", "server"}), "https://127.0.0.1:2");
}

TEST_F(Kubeconfig, OneThatIsNoneStaysAsItIs) {
  for (const char* text : {"a: [\n", "[]\n", "contexts: {}\n"}) {
    Write(text);
    const Status refused = PutIntoKubeconfig(path_, Own(1));
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_THAT(refused.error().message, HasSubstr(path_));
    EXPECT_EQ(Read(), text);
    EXPECT_EQ(Where(1), Leads::kElsewhere);
  }
}

// A device would be replaced, and nobody ever writes into a pipe.
TEST_F(Kubeconfig, WhatIsNoFileStays) {
  std::filesystem::create_symlink("/dev/null", path_);
  EXPECT_EQ(PutIntoKubeconfig(path_, Own(1)).code(), Code::kInvalidArgument);
  std::filesystem::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(PutIntoKubeconfig(path_, Own(1)).code(), Code::kInvalidArgument);
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
}

// People move it to where their other files are.
TEST_F(Kubeconfig, OfALinkTheFileIsWritten) {
  std::filesystem::create_symlink("mine", path_);
  for (const std::string& before : {std::string("none"), std::string(), Own(1)}) {
    if (before != "none") ASSERT_TRUE(WriteFile(temp_ / "mine", before, 0600).ok());
    ASSERT_TRUE(PutIntoKubeconfig(path_, Own(2)).ok()) << before;
    EXPECT_TRUE(std::filesystem::is_symlink(path_)) << before;
    EXPECT_EQ(Parsed(ValueOrAbort(ReadFile(temp_ / "mine"), "mine")), Parsed(Own(2))) << before;
  }
}

}  // namespace
}  // namespace capi::local
