#include "cli/declare/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing.h"

namespace capi::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

LiveVariables Live() {
  LiveVariables live;
  live.found.values = {{"READ", "a"}};
  live.found.lost = {"LOST"};
  live.found.unclear = {"VAGUE (Secret/x/y data.a) can be read in more than one way",
                        "OPTIONAL (Secret/x/y data.b) can be read in more than one way"};
  live.defaults = {{"READ", std::nullopt}, {"LOST", std::nullopt}, {"VAGUE", std::nullopt}, {"OPTIONAL", "1"}};
  return live;
}

// L18: what was tried since the last that came up has objects that nobody has pruned yet.
TEST(LiveReleases, AreThoseSinceTheLastThatCameUp) {
  const api::HistoryEntry applying{.version = "v3", .contract = "", .digest = "c", .outcome = "Applying"},
      failed{.version = "v2", .contract = "", .digest = "b", .outcome = "Failed"},
      rolled_back{.version = "v2", .contract = "", .digest = "b", .outcome = "RolledBack"},
      before{.version = "v1", .contract = "", .digest = "a", .outcome = "Succeeded"},
      old{.version = "v1", .contract = "", .digest = "a"},
      older{.version = "v0", .contract = "", .digest = "z", .outcome = "Succeeded"};
  const LiveRelease one{"v1", "a"}, two{"v2", "b"}, three{"v3", "c"};
  struct Case {
    std::string installed;
    std::vector<api::HistoryEntry> history;
    std::set<LiveRelease> want;
  };
  const Case cases[] = {
      {"", {}, {}},
      {"v1", {}, {{"v1", ""}}},
      {"v1", {before, older}, {one}},
      {"v1", {old, older}, {one}},
      {"v1", {applying, failed, before, older}, {one, two, three}},
      {"v1", {applying, rolled_back, old, older}, {one, two, three}},
      {"v1", {applying, failed}, {{"v1", ""}, two, three}},
      {"", {applying}, {three}},
  };
  for (const Case& c : cases) {
    api::ProviderStatus status;
    status.installed_version = c.installed;
    status.history = c.history;
    EXPECT_EQ(LiveReleases(status), c.want) << c.history.size();
  }
}

// L21.
TEST(AskForRest, OnlyWhatCanNotBeReadBackIsAskedFor) {
  auto config = Config::Parse({"c.yaml", "LOST: file\nREAD: other\n"}, From({{"VAGUE", "environment"}}));
  auto got = AskForRest(*config, Live(), std::nullopt);
  ASSERT_TRUE(got.ok());
  EXPECT_THAT(got->values, ElementsAre(Pair("LOST", "file"), Pair("READ", "a"), Pair("VAGUE", "environment")));
  EXPECT_THAT(got->asked, ElementsAre("LOST", "VAGUE"));
  EXPECT_THAT(got->missing, IsEmpty());
}

TEST(AskForRest, WhatNobodyGivesIsNamedAllAtOnce) {
  auto config = Config::Parse({"c.yaml", ""}, From({}));
  EXPECT_THAT(AskForRest(*config, Live(), std::nullopt)->missing, ElementsAre("LOST", "VAGUE"));
}

TEST(AskForRest, TheSecretThatIsThereTakesPrecedence) {
  auto config = Config::Parse({"c.yaml", "LOST: file\n"}, From({}));
  auto got = AskForRest(*config, Live(), SecretValuesByKey{{"LOST", "own"}, {"VAGUE", "own"}, {"READ", "own"}});
  EXPECT_THAT(got->values, ElementsAre(Pair("LOST", "own"), Pair("READ", "a"), Pair("VAGUE", "own")));
  EXPECT_THAT(got->asked, IsEmpty());
  EXPECT_THAT(got->missing, IsEmpty());
}

}  // namespace
}  // namespace capi::cli
