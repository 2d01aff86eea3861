#include "fetch/archives/layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fetch/archives/layer_testing.h"

namespace capi::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string TextOf(const LayerEntry& entry) {
  constexpr const char* kKinds[] = {"file", "folder", "link", "hard link", "other"};
  std::string out = fmt::format("{} {}", kKinds[static_cast<int>(entry.kind)], entry.name);
  if (!entry.link.empty()) out += " -> " + entry.link;
  return out + (entry.executable ? " x" : "");
}

// What is read, an entry a line, with the contents of files in quotes; or the error.
Result<std::vector<std::string>> Read(const std::string& archive, size_t step = 1u << 20) {
  std::vector<std::string> out;
  LayerReader reader({.begin =
                          [&](const LayerEntry& entry) {
                            out.push_back(TextOf(entry));
                            if (entry.kind == LayerEntry::Kind::kFile) out.back() += " \"";
                            return Ok();
                          },
                      .content =
                          [&](std::string_view piece) {
                            out.back() += piece;
                            return Ok();
                          },
                      .end =
                          [&] {
                            out.back() += "\"";
                            return Ok();
                          }});
  for (size_t at = 0; at < archive.size(); at += step) TRY(reader.Add(std::string_view(archive).substr(at, step)));
  TRY(reader.Finish());
  return out;
}

const std::vector<TestEntry>& Sample() {
  static const std::vector<TestEntry> entries = {
      {"bin/", '5'},
      {"bin/manager", '0', std::string(700, 'm'), "", 0755},
      {"empty"},
      {"bin/m", '2', "", "manager"},
      {"hard", '1', "", "bin/manager"},
      {"dev/null", '3'},
      {"fifo", '6'},
  };
  return entries;
}

TEST(Layer, IsReadInPiecesOfAnySize_G9) {
  const std::string archive = TestLayer(Sample());
  for (size_t step : {1u, 7u, 512u, 1000u, 1u << 20}) {
    EXPECT_THAT(Read(archive, step).value(),
                ElementsAre("folder bin/", "file bin/manager x \"" + std::string(700, 'm') + "\"", "file empty \"\"",
                            "link bin/m -> manager", "hard link hard -> bin/manager", "other dev/null", "other fifo"))
        << step;
  }
}

TEST(Layer, LongNamesAndLargeSizesAreReadAsTarProgramsWriteThem_G9) {
  const std::string name(300, 'n'), link(200, 'l');
  const std::string pax =
      ExtendedRecord("path", name) + ExtendedRecord("linkpath", link) + ExtendedRecord("SCHILY.xattr.user.a", "a=b\nc");
  EXPECT_THAT(Read(TestLayer({{"x", 'x', pax}, {"short", '2', "", "a"}, {"b"}})).value(),
              ElementsAre("link " + name + " -> " + link, "file b \"\""));
  EXPECT_THAT(
      Read(TestLayer({{"././@LongLink", 'L', name + '\0'}, {"././@LongLink", 'K', link + '\0'}, {"s", '1'}})).value(),
      ElementsAre("hard link " + name + " -> " + link));
  EXPECT_THAT(Read(TestLayer({{"g", 'g', ExtendedRecord("path", "no")}, {"a"}})).value(), ElementsAre("file a \"\""));
  // The size of one that octal digits don't hold.
  EXPECT_THAT(Read(TestLayer({{"x", 'x', ExtendedRecord("size", "3")}}).substr(0, 1024) + TestHeader({"big"}) + "abc" +
                   TarPadding(3) + TarEnd())
                  .value(),
              ElementsAre("file big \"abc\""));
  std::string binary = TestHeader({"big"});
  binary.replace(kTarSize.at, kTarSize.size, std::string("\x80\0\0\0\0\0\0\0\0\0\0\x03", 12));
  EXPECT_THAT(Read(WithSum(binary) + "abc" + TarPadding(3) + TarEnd()).value(), ElementsAre("file big \"abc\""));
  std::string posix = TestHeader({"end"});
  posix.replace(kTarPrefix.at, 9, "beginning");
  EXPECT_THAT(Read(WithSum(posix) + TarEnd()).value(), ElementsAre("file beginning/end \"\""));
  posix.replace(kTarMagic.at, 8, "ustar  ");  // GNU's has something else there
  EXPECT_THAT(Read(WithSum(posix) + TarEnd()).value(), ElementsAre("file end \"\""));
}

// As some programs have written them, and container runtimes read them.
TEST(Layer, OldFormsAreReadToo_G9) {
  std::string spaces = TestHeader({"a", '0', "abc", "", 0755});
  spaces.replace(kTarMode.at, kTarMode.size, std::string("   755 \0", 8));
  spaces.replace(kTarSize.at, kTarSize.size, std::string("          3 ", 12));
  EXPECT_THAT(Read(WithSum(spaces) + "abc" + TarPadding(3) + TarEnd()).value(), ElementsAre("file a x \"abc\""));
  std::string old = TestHeader({"a", '\0', "abc"}), folder = TestHeader({"b/", '\0'});
  for (std::string* header : {&old, &folder}) header->replace(kTarMagic.at, kTarMagic.size, kTarMagic.size, '\0');
  EXPECT_THAT(Read(WithSum(old) + "abc" + TarPadding(3) + WithSum(folder) + TarEnd()).value(),
              ElementsAre("file a \"abc\"", "folder b/"));
  old.replace(kTarMagic.at, 5, "other");
  EXPECT_FALSE(Read(WithSum(old) + "abc" + TarPadding(3) + TarEnd()).ok());
}

TEST(Layer, WhatIsBehindTheEndCountsForNothing_G9) {
  EXPECT_TRUE(Read(TestLayer(Sample()) + "x").ok());
  EXPECT_TRUE(Read(TestHeader({"a"})).ok());  // some programs write no end
}

TEST(Layer, EveryCutIsNoticed_G9) {
  const std::string archive =
      TestLayer({{"a", '0', "hello"}, {"x", 'x', ExtendedRecord("path", "b")}, {"c", '0', "1"}});
  const size_t blocks[] = {0, 1024, 1024 + 1024 + 1024};  // between entries
  for (size_t size = 0; size < archive.size() - 1024; size += 1) {
    const bool between = std::find(std::begin(blocks), std::end(blocks), size) != std::end(blocks);
    EXPECT_EQ(Read(archive.substr(0, size)).ok(), between) << size;
  }
}

TEST(Layer, WhatIsNoneIsRefused_G9) {
  std::string damaged = TestHeader({"a"});
  damaged[3] = 'x';
  std::string too_large = TestHeader({"big"});
  too_large.replace(kTarSize.at, kTarSize.size, "\x80" + std::string(11, '\xff'));
  struct Case {
    std::string archive;
    Code code;
    const char* words;
  };
  const Case cases[] = {
      {damaged, Code::kInvalidArgument, "damaged on its way"},
      {std::string(512, 'x'), Code::kInvalidArgument, "no sum"},
      {WithSum(too_large), Code::kInvalidArgument, "\"big\" is too large"},
      {TestLayer({{"s", 'S'}}), Code::kUnsupported, "sparse"},
      {TestLayer({{"x", 'x', ExtendedRecord("GNU.sparse.major", "1")}, {"a"}}), Code::kUnsupported, "sparse"},
      {TestLayer({{"x", 'x', "8 path=a\n"}, {"a"}}), Code::kInvalidArgument, "extended header can't be read"},
      {TestLayer({{"x", 'x', "7 path\n"}, {"a"}}), Code::kInvalidArgument, "extended header can't be read"},
      {TestLayer({{"x", 'x', "2 \n"}, {"a"}}), Code::kInvalidArgument, "extended header can't be read"},
      {TestLayer({{"x", 'x', ExtendedRecord("size", "-1")}, {"a"}}), Code::kInvalidArgument, "no size"},
      {TestLayer({{"x", 'x', ExtendedRecord("path", std::string("a\0b", 3))}, {"a"}}), Code::kInvalidArgument,
       "no file"},
      {TestLayer({{"x", 'x', ExtendedRecord("path", std::string(5000, 'a'))}, {"a"}}), Code::kInvalidArgument,
       "too long"},
      {TestLayer({{"L", 'L', std::string((1u << 20) + 1, 'a')}}), Code::kInvalidArgument, "header is too large"},
  };
  for (const Case& c : cases) {
    auto read = Read(c.archive);
    ASSERT_FALSE(read.ok()) << c.words;
    EXPECT_EQ(read.code(), c.code) << c.words;
    EXPECT_THAT(read.error().message, HasSubstr(c.words));
  }
}

TEST(Layer, AnErrorOfTheVisitorEndsTheReading_G9) {
  LayerReader reader({.begin = [](const LayerEntry&) { return Error{Code::kGone, "enough", {}}; }});
  EXPECT_EQ(reader.Add(TestLayer(Sample())).code(), Code::kGone);
}

}  // namespace
}  // namespace capi::fetch
