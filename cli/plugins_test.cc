#include "cli/plugins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/suggestions.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class Plugins : public testing::Test {
 protected:
  void Program(const std::string& name, mode_t mode = 0755) {
    ASSERT_EQ(chmod(folder_.Put(name, "#!/bin/sh\n").c_str(), mode), 0);
  }
  // The program's name and its arguments; empty for none.
  std::vector<std::string> Find(const std::vector<std::string>& words) {
    std::istringstream in;
    std::ostringstream out;
    World world = {From({{"PATH", (folder_ / "a") + ":" + (folder_ / "b")}}), in, out, out};
    CommandLine line(world);
    AddCommands(line);
    auto found = FindPlugin(line.root(), words, world.getenv);
    if (!found) return {};
    std::vector<std::string> all = {found->path.substr(folder_.path().size() + 1)};
    all.insert(all.end(), found->arguments.begin(), found->arguments.end());
    return all;
  }

  TestFolder folder_;
};

// L7.
TEST_F(Plugins, TheLongestNameThatIsThere) {
  Program("a/clusterctl-foo");
  Program("b/clusterctl-foo");
  Program("b/clusterctl-foo-bar");
  Program("a/clusterctl-with_dash");
  Program("a/clusterctl-version");
  Program("a/clusterctl-unrunnable", 0644);
  std::filesystem::create_directories(folder_ / "a/clusterctl-folder");
  const std::pair<std::vector<std::string>, std::vector<std::string>> cases[] = {
      {{"foo"}, {"a/clusterctl-foo"}},
      {{"foo", "x", "-y", "z"}, {"a/clusterctl-foo", "x", "-y", "z"}},
      {{"foo", "bar", "baz"}, {"b/clusterctl-foo-bar", "baz"}},
      {{"foo", "--x", "bar"}, {"a/clusterctl-foo", "--x", "bar"}},
      {{"with-dash"}, {"a/clusterctl-with_dash"}},
      {{"version"}, {}},  // a command of clusterctl's own
      {{"--help", "foo"}, {}},
      {{"unrunnable"}, {}},
      {{"folder"}, {}},
      {{"none"}, {}},
      {{"../a/clusterctl-foo"}, {}},
      {{}, {}},
  };
  for (const auto& [words, want] : cases) EXPECT_EQ(Find(words), want) << testing::PrintToString(words);
}

TEST(Suggestions, CommandsWithLikeNames) {
  Outcome outcome = Clusterctl({"genarate", "cluster"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err,
            "Error: unknown command \"genarate\" for \"clusterctl\"\n\nDid you mean this?\n\tgenerate\n\n"
            "Run 'clusterctl --help' for usage.\n");
  EXPECT_THAT(Clusterctl({"generate", "clustr"}).err, HasSubstr("Did you mean this?\n\tcluster\n"));
  EXPECT_THAT(Clusterctl({"conf"}).err, HasSubstr("\tconfig\n"));
  EXPECT_THAT(Clusterctl({"xyzzy"}).err, Not(HasSubstr("Did you mean")));
  EXPECT_THAT(Clusterctl({std::string(100'000, 'x')}).err, Not(HasSubstr("Did you mean")));
}

TEST(Suggestions, WhatIsNotOfferedSaysWhatToUseInstead) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"alpha", "topology", "plan", "-f", "in.yaml", "-o", "out"}, {"alpha", "topology"}}) {
    Outcome outcome = Clusterctl(arguments);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, testing::StartsWith("Error: `clusterctl alpha topology plan` isn't offered; "));
    EXPECT_THAT(outcome.err, HasSubstr("Instead, "));
  }
  EXPECT_EQ(Clusterctl({"__complete", "alpha", ""}).out.find("topology"), std::string::npos);
}

TEST(Suggestions, Distance) {
  const std::tuple<const char*, const char*, size_t> cases[] = {
      {"", "", 0},     {"a", "", 1}, {"", "ab", 2}, {"abc", "abc", 0}, {"abc", "axc", 1}, {"kitten", "sitting", 3},
      {"ab", "ba", 2},
  };
  for (const auto& [a, b, want] : cases) {
    EXPECT_EQ(Distance(a, b), want) << a << " " << b;
    EXPECT_EQ(Distance(b, a), want) << b << " " << a;
  }
}

}  // namespace
}  // namespace capi::cli
