#include "local/programs/unpack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/encoding.h"
#include "base/files.h"
#include "base/testing/temp_folder.h"
#include "fetch/archives/layer_testing.h"

namespace capi::local {
namespace {

using fetch::TestEntry;
using fetch::TestLayer;
using testing::ElementsAre;
using testing::HasSubstr;

Status AddLayer(Unpacker& unpacker, std::string_view layer, size_t step = 1000) {
  TRY(unpacker.BeginLayer());
  for (size_t at = 0; at < layer.size(); at += step) TRY(unpacker.Add(layer.substr(at, step)));
  return unpacker.EndLayer();
}

// All below a folder, sorted: "path", "path -> where".
std::vector<std::string> Listed(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    out.push_back(std::filesystem::relative(entry.path().parent_path(), folder) / entry.path().filename());
    if (out.back().starts_with("./")) out.back().erase(0, 2);
    if (entry.is_symlink()) out.back() += " -> " + std::filesystem::read_symlink(entry.path()).string();
  }
  std::sort(out.begin(), out.end());
  return out;
}

unsigned ModeOf(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

// G9: layers with whiteouts and links become files, packed or not, in pieces of any size.
TEST(Unpacker, WritesTheFilesOfAnImage_G9) {
  const std::string lower = TestLayer({{"usr/bin/", '5'},
                                       {"bin", '2', "", "usr/bin"},
                                       {"bin/manager", '0', "lower", "", 04755},
                                       {"bin/second", '1', "", "usr/bin/manager"},
                                       {"etc/passwd", '0', "root:x:0:0::/:/bin/sh\n"},
                                       {"etc/gone", '0', "x"},
                                       {"old/a", '0', "x"}});
  const std::string upper = TestLayer({{"usr/bin/manager", '0', std::string(10'000, 'm'), "", 0700},
                                       {"etc/.wh.gone", '0'},
                                       {"old/.wh..wh..opq", '0'},
                                       {"old/b", '0', ""},
                                       {"abs", '2', "", "/usr/bin/manager"},
                                       {"dev/null", '3'},
                                       {"dangling", '2', "", "/proc/self"}});
  for (size_t step : {1u, 100u, 1u << 20}) {
    TempFolder folder;
    Unpacker unpacker(folder.path());
    ASSERT_TRUE(AddLayer(unpacker, lower, step).ok());
    ASSERT_TRUE(AddLayer(unpacker, Gzip(upper), step).ok());
    ASSERT_TRUE(unpacker.Finish().ok());
    EXPECT_THAT(Listed(folder.path()), ElementsAre("root", "root/abs -> usr/bin/manager", "root/bin -> usr/bin",
                                                   "root/etc", "root/etc/passwd", "root/old", "root/old/b", "root/usr",
                                                   "root/usr/bin", "root/usr/bin/manager", "root/usr/bin/second"));
    EXPECT_EQ(*ReadFile(folder / "root/abs"), std::string(10'000, 'm'));
    EXPECT_EQ(*ReadFile(folder / "root/usr/bin/second"), "lower");
    EXPECT_EQ(ModeOf(folder / "root/usr/bin/second"), 0755u) << "without special bits";
    EXPECT_EQ(ModeOf(folder / "root/usr/bin/manager"), 0755u) << "whatever the umask";
    EXPECT_EQ(ModeOf(folder / "root/etc/passwd"), 0644u);
  }
}

// G9: whatever an image's links say, nothing is written or read outside of its folder.
TEST(Unpacker, LinksLeadNowhereElse_G9) {
  TempFolder outside, folder;
  ASSERT_TRUE(WriteFile(outside / "file", "untouched").ok());
  const std::string up = "../../../../../../../../../../.." + outside.path();
  for (const std::string& target : {outside.path(), up}) {
    Unpacker unpacker(folder / "of" + std::to_string(target.size()));
    ASSERT_TRUE(std::filesystem::create_directories(folder / "of" + std::to_string(target.size())));
    // What lies behind a link to what isn't in the image makes that folder in the image.
    ASSERT_TRUE(AddLayer(unpacker, TestLayer({{"l", '2', "", target}, {"l/file", '0', "overwritten"}})).ok());
    ASSERT_TRUE(unpacker.Finish().ok());
    EXPECT_EQ(*ReadFile(unpacker.root() + outside.path() + "/file"), "overwritten");
    Unpacker second(folder / "second" + std::to_string(target.size()));
    ASSERT_TRUE(
        AddLayer(second, TestLayer({{"l", '2', "", target}, {"a/up", '2', "", "../../.."}, {"r", '2', "", "/"}})).ok());
    ASSERT_TRUE(second.Finish().ok());
    EXPECT_THAT(Listed(second.root()), ElementsAre("a", "a/up -> ../.", "r -> ."));
  }
  EXPECT_EQ(*ReadFile(outside / "file"), "untouched");
  EXPECT_THAT(Listed(outside.path()), ElementsAre("file"));
}

TEST(Unpacker, WhatIsNoLayerIsRefused_G9) {
  const std::string layer = TestLayer({{"a", '0', "hello"}});
  struct Case {
    std::string layer;
    Code code;
    const char* words;
  };
  const Case cases[] = {
      {"", Code::kInvalidArgument, "a layer is empty"},
      {"\x28\xb5\x2f\xfd"
       "rest",
       Code::kUnsupported, "zstd"},
      {Gzip(layer).substr(0, 50), Code::kInvalidArgument, "cut off"},
      {layer.substr(0, 600), Code::kInvalidArgument, "cut off"},
      {std::string(2000, 'x'), Code::kInvalidArgument, "no sum"},
      {TestLayer({{"../a"}}), Code::kInvalidArgument, "leads out of the image"},
      {Gzip(TestLayer({{"big", '0', std::string(200'000, 'x')}})), Code::kInvalidArgument, "more than 0 MiB"},
      {Gzip(layer + std::string(200'000, '\0')), Code::kInvalidArgument, "more than 0 MiB"},
  };
  for (const Case& c : cases) {
    TempFolder folder;
    Unpacker unpacker(folder.path(), 100'000);
    Status added = AddLayer(unpacker, c.layer);
    ASSERT_FALSE(added.ok()) << c.words;
    EXPECT_EQ(added.code(), c.code) << c.words;
    EXPECT_THAT(added.error().message, HasSubstr(c.words));
  }
}

}  // namespace
}  // namespace capi::local
