#include "local/programs/executable.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "base/testing/temp_folder.h"
#include "local/programs/testing.h"

namespace capi::local {
namespace {

using testing::HasSubstr;

// G9: what doesn't run on this machine is refused with a sentence, before anything is started.
TEST(Executable, WhatDoesntRunHereIsRefused_G9) {
  TempFolder folder;
  struct Case {
    const char* name;
    std::string content;
    unsigned mode;
    const char* words;  // "" where it runs
  };
  const Case cases[] = {
      {"static", Elf(ThisMachine()), 0755, ""},
      {"other", Elf(ThisMachine() == kAmd64 ? kArm64 : kAmd64), 0755, "is a program for another architecture"},
      {"narrow", Elf(ThisMachine()).replace(4, 1, "\1"), 0755, "is a program for another architecture"},
      {"here", Elf(ThisMachine(), "/bin/sh"), 0755, ""},
      {"musl", Elf(ThisMachine(), "/lib/ld-none.so.1"), 0755,
       "it wants the loader /lib/ld-none.so.1, which isn't on this"},
      {"script", "#!/bin/sh\nexit 0\n", 0755, ""},
      {"spaces", "#! /bin/sh -e\n", 0755, ""},
      {"busybox", "#!/bin/none -x\n", 0755, "is a script for \"/bin/none\", which isn't on this machine"},
      {"bare", "#!", 0755, "is a script for \"\""},
      {"text", "hello", 0755, "is neither a program nor a script"},
      {"empty", "", 0755, "is neither a program nor a script"},
      {"cut",
       "\x7f"
       "ELF",
       0755, "another architecture"},
      {"plain", "#!/bin/sh\n", 0644, "may not be executed"},
  };
  for (const Case& c : cases) {
    ASSERT_TRUE(WriteFile(folder / c.name, c.content, c.mode).ok());
    Status runs = CheckRuns(folder / c.name);
    if (*c.words == '\0') {
      EXPECT_TRUE(runs.ok()) << c.name << ": " << runs.error().message;
      continue;
    }
    ASSERT_FALSE(runs.ok()) << c.name;
    EXPECT_EQ(runs.code(), Code::kUnsupported) << c.name;
    EXPECT_THAT(runs.error().message, HasSubstr(c.words));
    EXPECT_THAT(runs.error().message, HasSubstr(folder / c.name));
  }
  EXPECT_THAT(CheckRuns(folder.path()).error().message, HasSubstr("is no file"));
  EXPECT_EQ(CheckRuns(folder / "none").code(), Code::kNotFound);
  EXPECT_TRUE(CheckRuns("/proc/self/exe").ok());
}

TEST(Executable, AProgramIsLookedForInTheImageAlone_G9) {
  TempFolder folder;
  const std::string root = folder / "root";
  std::filesystem::create_directories(root + "/usr/bin");
  std::filesystem::create_directories(root + "/app/bin/folder");
  for (const char* name : {"/manager", "/usr/bin/tool", "/app/bin/tool", "/app/run"})
    ASSERT_TRUE(WriteFile(root + name, "#!/bin/sh\n", 0755).ok());
  ASSERT_TRUE(WriteFile(root + "/usr/bin/data", "", 0644).ok());
  struct Case {
    const char *word, *folder, *search;
    std::string path;  // "" for none
  };
  const Case cases[] = {
      {"/manager", "/", "", "/manager"},
      {"/../../manager", "/", "", "/manager"},
      {"/app/../manager", "/", "", "/manager"},
      {"tool", "/", "", "/usr/bin/tool"},
      {"tool", "/", "/app/bin:/usr/bin", "/app/bin/tool"},
      {"tool", "/", "relative:/none:/usr/bin", "/usr/bin/tool"},
      {"tool", "/", "/../../usr/bin", "/usr/bin/tool"},
      {"./run", "/app", "", "/app/run"},
      {"bin/tool", "/app", "", "/app/bin/tool"},
      {"../manager", "/app", "", "/manager"},
      {"data", "/", "", ""},
      {"folder", "/", "/app/bin", ""},
      {"/bin/sh", "/", "", ""},
      {"sh", "/", "", ""},
      {"", "/", "", ""},
  };
  for (const Case& c : cases) {
    auto found = ProgramIn(root, c.word, c.folder, c.search);
    if (c.path.empty()) {
      EXPECT_EQ(found.ok() ? Code::kInternal : found.code(), Code::kNotFound) << c.word;
    } else {
      ASSERT_TRUE(found.ok()) << c.word;
      EXPECT_EQ(*found, root + c.path) << c.word;
    }
  }
}

}  // namespace
}  // namespace capi::local
