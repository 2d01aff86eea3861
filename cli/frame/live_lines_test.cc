#include "cli/frame/live_lines.h"

#include <gtest/gtest.h>

#include <sstream>

namespace capi::cli {
namespace {

// L10: what a person watches is drawn anew in its place, and goes when the waiting ends.
TEST(LiveLines, AreDrawnAnewInTheirPlace) {
  std::ostringstream out;
  {
    LiveLines lines(out, 40);
    lines.Draw({"a: waits", "b: waits"});
    EXPECT_EQ(out.str(), "a: waits\nb: waits\n");
    lines.Draw({"a: waits", "b: waits"});
    EXPECT_EQ(out.str(), "a: waits\nb: waits\n") << "nothing changed";
    lines.Draw({"a: ready", "b: waits"});
    EXPECT_EQ(out.str(), "a: waits\nb: waits\n\r\x1b[2A\x1b[Ja: ready\nb: waits\n");
    out.str("");
  }
  EXPECT_EQ(out.str(), "\r\x1b[2A\x1b[J");
}

TEST(LiveLines, FitTheTerminal) {
  std::ostringstream out;
  LiveLines(out, 6).Draw({"123456789"});
  EXPECT_EQ(out.str(), "12345\n\r\x1b[1A\x1b[J") << "with the last column empty: some terminals break a line there";
  out.str("");
  LiveLines(out, 80).Draw({"\x1b[31mred \xE6\x97\xA5\r\xC2\xA0"});
  EXPECT_EQ(out.str(), "?[31mred ???\n\r\x1b[1A\x1b[J");
}

// What is made to fit keeps its colours and characters, and is drawn anew in the same place.
TEST(LiveLines, WhatFitsAlreadyIsDrawnAsItIs) {
  std::ostringstream out;
  {
    LiveLines lines(out, 6);
    lines.DrawFitted({"\x1b[32m├─a\x1b[0m"});
    lines.DrawFitted({"└─b"});
    lines.DrawFitted({"└─b"});
  }
  EXPECT_EQ(out.str(), "\x1b[32m├─a\x1b[0m\n\r\x1b[1A\x1b[J└─b\n\r\x1b[1A\x1b[J");
}

TEST(LiveLines, AreNothingWithoutATerminal) {
  std::ostringstream out;
  LiveLines(out, 0).Draw({"a"});
  EXPECT_EQ(out.str(), "");
  LiveLines(out, 0).DrawFitted({"a"});
  EXPECT_EQ(out.str(), "");
  EXPECT_EQ(SizeOfTerminal(-1).columns, 0);
}

}  // namespace
}  // namespace capi::cli
