// `clusterctl generate provider`, the pinned real one and ours, on real releases in all modes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "base/files.h"
#include "base/thread_pool.h"
#include "e2e/parity/compare.h"
#include "e2e/parity/page.h"

namespace capi::e2e {
namespace {

constexpr char kPage[] = "docs/parity.md";
constexpr unsigned kSeed = 4;
constexpr size_t kSampled = 30;

bool IsSet(const char* variable) { return std::getenv(variable) != nullptr; }

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
  ThreadPool(std::max(1u, std::thread::hardware_concurrency()), cases.size()).RunAll(std::move(tasks));
  return verdicts;
}

// Every cell that isn't in `known` yet is "?", every row that is no file any more goes.
ParityMatrix Known(const ParityMatrix& known, const std::vector<ParityCase>& all) {
  ParityMatrix out;
  for (const ParityCase& c : all) {
    auto row = known.find(c.Row());
    out[c.Row()][c.mode] = row == known.end() ? "?" : row->second.at(c.mode);
  }
  return out;
}

TEST(Parity, EveryReleaseIsRenderedAsClusterctlDoes) {
  if (ReleasesDir().empty()) GTEST_SKIP() << "RELEASES_DIR isn't set";
  auto real = RealClusterctl();
  ASSERT_TRUE(real.ok()) << real.error().message;
  bool write = IsSet("CAPI_PARITY_WRITE");
  std::vector<ParityCase> all = AllParityCases();
  ASSERT_GE(all.size(), 69 * kModes.size());
  auto committed = ReadFile(kPage);
  ASSERT_TRUE(committed.ok() || write) << committed.error().message;
  ParityMatrix matrix = Known(committed.ok() ? ReadParityPage(*committed) : ParityMatrix(), all);
  auto cases = write || IsSet("CAPI_TEST_LONG") ? all : SampleOf(all, matrix, kSeed, kSampled);
  std::vector<Verdict> verdicts = TryAll(*real, cases);
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_THAT(verdicts[i].differences, testing::IsEmpty()) << cases[i].Id();
    matrix[cases[i].Row()][cases[i].mode] = verdicts[i].Cell();
  }
  std::string page = ParityPage(matrix, real->version);
  if (write) {
    ASSERT_TRUE(WriteFile(kPage, page).ok());
  } else {
    EXPECT_EQ(page, *committed) << kPage << " is out of date; it says how to write it";
  }
}

}  // namespace
}  // namespace capi::e2e
