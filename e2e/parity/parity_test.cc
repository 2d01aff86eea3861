// `clusterctl generate provider`, the pinned real one and ours, on all releases of the set in all modes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/files.h"
#include "base/run_all.h"
#include "base/testing/length.h"
#include "e2e/parity/compare.h"
#include "e2e/parity/page.h"

namespace capi::e2e {
namespace {

constexpr char kPage[] = "docs/parity.md";

Verdict Try(const Clusterctl& real, const Clusterctl& ours, const ParityCase& c) {
  auto wanted = real.Generate(c);
  auto got = ours.Generate(c);
  if (wanted.ok() && got.ok()) return Compare(*wanted, *got);
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

// All but the rows is the same in each set of releases. The rows are of the vendors': those that are there have to be
// as they came out in this run.
void CheckPage(const ParityMatrix& seen, const std::string& version) {
  auto committed = ReadFile(kPage);
  ASSERT_TRUE(committed.ok()) << committed.error().message;
  ParityMatrix rows = ReadParityPage(*committed);
  EXPECT_FALSE(rows.empty()) << kPage << " has no table";
  for (const auto& [row, cells] : seen) {
    auto listed = rows.find(row);
    if (GetReleaseSet() == ReleaseSet::kVendors && listed != rows.end()) listed->second = cells;
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
  CheckPage(matrix, real->version);
}

}  // namespace
}  // namespace capi::e2e
