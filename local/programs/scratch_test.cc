#include "local/programs/scratch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "base/files.h"
#include "base/testing/temp_folder.h"

namespace capi::local {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// G9: nothing half is ever under its name.
TEST(Scratch, IsThereUnderItsNameWhenItIsWhole_G9) {
  TempFolder folder;
  const std::string parent = folder / "a/b";
  {
    auto scratch = Scratch::Create(parent).value();
    ASSERT_TRUE(WriteFile(scratch->path() + "/file", "first").ok());
    EXPECT_EQ(ListDir(parent)->size(), 1u);
  }
  EXPECT_THAT(*ListDir(parent), IsEmpty());
  auto first = Scratch::Create(parent).value(), second = Scratch::Create(parent).value();
  ASSERT_TRUE(WriteFile(first->path() + "/file", "first").ok());
  ASSERT_TRUE(WriteFile(second->path() + "/file", "second").ok());
  ASSERT_TRUE(first->Keep(parent + "/whole").ok());
  ASSERT_TRUE(second->Keep(parent + "/whole").ok());
  first.reset();
  second.reset();
  EXPECT_THAT(*ListDir(parent), ElementsAre("whole"));
  EXPECT_EQ(*ReadFile(parent + "/whole/file"), "first");
}

TEST(Scratch, WhatAKilledProcessLeftIsRemoved_G9) {
  TempFolder folder;
  auto used = Scratch::Create(folder.path()).value();
  for (const char* name : {".tmp-abandoned", ".tmp-young", "whole"}) ASSERT_EQ(mkdir((folder / name).c_str(), 0755), 0);
  const timeval long_ago[2] = {{1'000'000, 0}, {1'000'000, 0}};
  for (const std::string& path : {folder / ".tmp-abandoned", folder / "whole", used->path()})
    ASSERT_EQ(utimes(path.c_str(), long_ago), 0);
  auto next = Scratch::Create(folder.path()).value();
  const auto left = *ListDir(folder.path());
  EXPECT_EQ(left.size(), 4u) << "young, whole, and the two that are used";
  EXPECT_EQ(std::count(left.begin(), left.end(), ".tmp-abandoned"), 0);
}

TEST(Scratch, WhereNoFolderCanBeIsSaid_G9) {
  TempFolder folder;
  ASSERT_TRUE(WriteFile(folder / "file", "").ok());
  auto scratch = Scratch::Create(folder / "file/a");
  ASSERT_FALSE(scratch.ok());
  EXPECT_THAT(scratch.error().message, testing::HasSubstr(folder / "file/a"));
}

}  // namespace
}  // namespace capi::local
