#include "base/unified_diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/strings.h"

namespace capi {
namespace {

std::string Diff(std::string_view a, std::string_view b) { return UnifiedDiff(a, b, "a", "b"); }

TEST(UnifiedDiff, EqualTextsHaveNone) {
  EXPECT_EQ(Diff("", ""), "");
  EXPECT_EQ(Diff("x\n", "x\n"), "");
}

TEST(UnifiedDiff, HunksHaveThreeLinesAround) {
  EXPECT_EQ(Diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  EXPECT_EQ(Diff("", "1\n2\n"), "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+1\n+2\n");
  EXPECT_EQ(Diff("1\n", ""), "--- a\n+++ b\n@@ -1 +0,0 @@\n-1\n");
  EXPECT_EQ(Diff("1", "1\n"), "--- a\n+++ b\n@@ -1 +1 @@\n-1\n\\ No newline at end of file\n+1\n");
}

// What the hunks make of `before`; "?" where they don't fit.
std::string Apply(const std::string& before, const std::string& diff) {
  const std::vector<std::string> old = Split(before, '\n');
  std::string out;
  size_t at = 0;
  for (const std::string& line : Split(diff, '\n')) {
    if (line.starts_with("---") || line.starts_with("+++") || line.empty()) continue;
    if (line.starts_with("@@ -")) {
      size_t first = std::stoul(line.substr(4)), count = line.find(",0 ") == 6 ? 0 : 1;  // "-3,0": behind line 3
      for (; at + count < first; ++at) out += old[at] + "\n";
      continue;
    }
    if (line[0] != '+' && old[at++] != line.substr(1)) return "?";
    if (line[0] != '-') out += line.substr(1) + "\n";
  }
  for (; at + 1 < old.size(); ++at) out += old[at] + "\n";
  return out;
}

// By a table of all pairs.
size_t FewestChanges(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> common(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j)
      common[i + 1][j + 1] = a[i] == b[j] ? common[i][j] + 1 : std::max(common[i][j + 1], common[i + 1][j]);
  }
  return a.size() + b.size() - 2 * common[a.size()][b.size()];
}

TEST(UnifiedDiff, MakesOneTextOfTheOtherWithTheFewestLines) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    auto letters = [&] {
      std::string out;
      for (unsigned left = random() % 30; left > 0; --left) out += static_cast<char>('a' + random() % 5);
      return out;
    };
    const std::string a = letters(), b = letters();
    auto lines = [](const std::string& text) {
      std::string out;
      for (char c : text) out += std::string(1, c) + "\n";
      return out;
    };
    const std::string diff = Diff(lines(a), lines(b));
    ASSERT_EQ(diff.empty() ? lines(a) : Apply(lines(a), diff), lines(b)) << diff;
    size_t changes = 0;
    for (const std::string& line : Split(diff, '\n')) changes += line.size() == 2 && line[0] != ' ';
    ASSERT_EQ(changes, FewestChanges(a, b)) << diff;
  }
}

TEST(UnifiedDiff, LongTextsTakeNoLongTime) {
  std::string before, after;
  for (int i = 0; i < 60'000; ++i) {
    before += "a" + std::to_string(i) + "\n";
    after += "b" + std::to_string(i) + "\n";
  }
  EXPECT_GT(Diff(before, after).size(), before.size() + after.size());
}

}  // namespace
}  // namespace capi
