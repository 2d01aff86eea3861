#include "fetch/archives/tar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace capi::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr size_t kBlock = 512;

std::string Sample() { return WriteTar({{"b/c", "hello"}, {"a", ""}, {"full", std::string_view("x")}}); }

// With the sum of a header put right.
std::string Summed(std::string archive) {
  archive.replace(148, 8, "        ");
  unsigned sum = 0;
  for (size_t i = 0; i < kBlock; ++i) sum += static_cast<unsigned char>(archive[i]);
  std::string digits(6, '0');
  for (size_t i = 6; i-- > 0; sum /= 8) digits[i] = static_cast<char>('0' + sum % 8);
  return archive.replace(148, 8, digits + std::string("\0 ", 2));
}

TEST(Tar, IsReadAsItWasWritten_L27) {
  const std::string archive = Sample();
  EXPECT_EQ(archive.size() % kBlock, 0u);
  EXPECT_EQ(archive, Sample());
  EXPECT_THAT(ReadTar(archive).value(), ElementsAre(Pair("a", ""), Pair("b/c", "hello"), Pair("full", "x")));
  EXPECT_THAT(ReadTar(archive + std::string(20 * kBlock, '\0')).value(), testing::SizeIs(3));
  std::string folder = Summed(WriteTar({{"blobs/", ""}}).replace(156, 1, "5"));
  EXPECT_TRUE(ReadTar(folder).value().empty());
}

TEST(Tar, EveryCutIsNoticed_L27) {
  const std::string archive = Sample();
  for (size_t size = 0; size < archive.size(); size += 37) {
    EXPECT_FALSE(ReadTar(std::string_view(archive).substr(0, size)).ok()) << size;
  }
}

TEST(Tar, EveryChangedByteOfAHeaderIsNoticed_L27) {
  const std::string archive = Sample();
  for (size_t at = 0; at < kBlock; ++at) {
    std::string changed = archive;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(ReadTar(changed).ok()) << at;
  }
}

TEST(Tar, WhatIsNoPlainArchiveIsRefused_L27) {
  const std::string archive = Sample();
  auto with_type = [&](char type) { return Summed(std::string(archive).replace(156, 1, 1, type)); };
  auto with = [&](size_t at, std::string_view text) {
    return Summed(std::string(archive).replace(at, text.size(), text));
  };
  const std::pair<std::string, const char*> cases[] = {
      {"", "cut off: its end is missing"},
      {std::string(kBlock, 'x'), "an entry has no sum"},
      {with_type('1'), "is a link"},
      {with_type('2'), "is a link"},
      {with_type('3'), "is a link, a device"},
      {with_type('x'), "an extended header"},
      {with_type('L'), "an extended header"},
      {with_type('5'), "is a folder with content"},
      {with(345, "../.."), "too long a name"},
      {with(124, "77777777777"), "cut off in \"b/c\""},
      {with(124, "\x80\x00\x00\x00"), "no size that is read"},
      {with(124, "-0000000001"), "no size that is read"},
      {with(257, "notar"), "no tar archive"},
      {WriteTar({{"a", "1"}, {"a", "1"}}), "\"a\" is there twice"},
      {archive + "x", "something is behind its end"},
      {archive + archive, "something is behind its end"},
  };
  for (const auto& [text, words] : cases) {
    auto read = ReadTar(text);
    ASSERT_FALSE(read.ok()) << words;
    EXPECT_EQ(read.code(), Code::kInvalidArgument);
    EXPECT_THAT(read.error().message, HasSubstr(words));
  }
}

}  // namespace
}  // namespace capi::fetch
