// `clusterctl generate provider`, the pinned real one and ours, on all releases of the set in all modes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/files.h"
#include "base/run_all.h"
#include "base/strings.h"
#include "base/testing/length.h"
#include "e2e/parity/compare.h"
#include "e2e/parity/page.h"

namespace capi::e2e {
namespace {

constexpr char kPage[] = "docs/parity.md";

Verdict Try(const Clusterctl& real, const Clusterctl& ours, const ParityCase& c) {
  auto wanted = real.Generate(c);
  auto got = ours.Generate(c);
  if (wanted.ok() && got.ok()) return Compare(*wanted, *got, c.mode);
  Verdict verdict;
  verdict.differences.push_back(wanted.ok() ? got.error().message : wanted.error().message);
  return verdict;
}

std::vector<Verdict> TryAll(const Clusterctl& real, const std::vector<ParityCase>& cases) {
  Clusterctl ours = OurClusterctl();
  std::vector<Verdict> verdicts(cases.size());
  std::vector<std::function<void()>> tasks;
  for (size_t i = 0; i < cases.size(); ++i) tasks.push_back([&, i] { verdicts[i] = Try(real, ours, cases[i]); });
  RunAll(std::thread::hardware_concurrency(), tasks);
  return verdicts;
}

// Of the tree's own releases, those cells that aren't "equal".
struct TreeCell {
  std::string_view row, mode, cell;
};
constexpr TreeCell kTreeCells[] = {
#include "e2e/parity/tree_cells.inc"
};

std::vector<std::string> UnequalCells(const ParityMatrix& matrix) {
  std::vector<std::string> lines;
  for (const auto& [row, cells] : matrix) {
    for (const ModeInfo& info : kModes) {
      const std::string& cell = cells.at(info.mode);
      if (cell != "equal") lines.push_back(fmt::format("{{\"{}\", \"{}\", \"{}\"}},", row, info.name, cell));
    }
  }
  return lines;
}

// An exception that comes up in one more release is looked at by somebody before it is forgiven.
void CheckTree(const ParityMatrix& seen) {
  if (GetReleaseSet() != ReleaseSet::kTree) return;
  std::vector<std::string> listed;
  for (const TreeCell& c : kTreeCells) {
    listed.push_back(fmt::format("{{\"{}\", \"{}\", \"{}\"}},", c.row, c.mode, c.cell));
  }
  EXPECT_EQ(Join(UnequalCells(seen), "\n"), Join(listed, "\n")) << "e2e/parity/tree_cells.inc";
}

// The page is of the vendors' releases. All but the rows is the same in each set of them; of the rows those that are
// there have to be as they came out in this run, and none may be missing on the page.
void CheckPage(const ParityMatrix& seen, const std::string& version) {
  auto committed = ReadFile(kPage);
  ASSERT_TRUE(committed.ok()) << committed.error().message;
  ParityMatrix rows = ReadParityPage(*committed);
  EXPECT_FALSE(rows.empty()) << kPage << " has no table";
  if (GetReleaseSet() == ReleaseSet::kVendors) {
    for (const auto& [row, cells] : rows) {
      if (!seen.contains(row)) fmt::print("{} is in {} and not in RELEASES_DIR: not compared\n", row, kPage);
    }
    for (const auto& [row, cells] : seen) rows[row] = cells;
  }
  EXPECT_EQ(ParityPage(rows, version), *committed) << kPage << " is out of date; it says how to write it";
}

TEST(Parity, EveryReleaseIsRenderedAsClusterctlDoes) {
  if (std::string missing = MissingReleases({}); !missing.empty()) GTEST_SKIP() << missing;
  auto real = RealClusterctl();
  ASSERT_TRUE(real.ok()) << real.error().message;
  std::vector<ParityCase> cases = AllParityCases();
  ASSERT_FALSE(cases.empty());
  std::vector<Verdict> verdicts = TryAll(*real, cases);
  ParityMatrix matrix;
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_THAT(verdicts[i].differences, testing::IsEmpty()) << cases[i].Id();
    matrix[cases[i].Row()][cases[i].mode] = verdicts[i].Cell();
  }
  if (IsSet("CAPI_PARITY_WRITE")) {
    ASSERT_TRUE(GetReleaseSet() == ReleaseSet::kVendors) << "the page is of the vendors' releases";
    ASSERT_TRUE(WriteFile(kPage, ParityPage(matrix, real->version)).ok());
  }
  CheckTree(matrix);
  CheckPage(matrix, real->version);
}

}  // namespace
}  // namespace capi::e2e
