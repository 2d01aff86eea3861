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
