// Soak: an hour's churn of people in a few minutes, and what the operator takes of the machine meanwhile: after the
// warm-up its memory, threads and descriptors stay as they are.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/testing/length.h"
#include "e2e/model/run.h"

namespace capi::e2e::model {
namespace {

// The fleet is the same in number, all of it Ready, whenever one is taken.
struct Sample {
  Millis at{0};
  size_t actions = 0, kib = 0, threads = 0, descriptors = 0;
};

Seconds Length() {
  return Seconds(IsSet("SOAK_SECONDS") ? std::max(1, std::atoi(EnvironmentVariable("SOAK_SECONDS").c_str())) : 600);
}

size_t Median(std::vector<size_t> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

std::vector<size_t> Of(const std::vector<Sample>& samples, size_t from, size_t to, size_t Sample::*what) {
  std::vector<size_t> values;
  for (size_t i = from; i < to; ++i) values.push_back(samples[i].*what);
  return values;
}

void Print(const std::vector<Sample>& samples) {
  fmt::print("seconds actions   RSS MiB  threads  descriptors\n");
  const size_t every = std::max<size_t>(1, samples.size() / 40);
  size_t most = 1;
  for (const Sample& s : samples) most = std::max(most, s.kib);
  for (size_t i = 0; i < samples.size(); i += every) {
    const Sample& s = samples[i];
    fmt::print("{:7.0f} {:7} {:9.1f} {:8} {:12}  {}\n", s.at.count() / 1000.0, s.actions, s.kib / 1024.0, s.threads,
               s.descriptors, std::string(40 * s.kib / most, '#'));
  }
}

// The first quarter fills caches. What comes in the last may not be more than in the second: by a tenth and 2 MiB of
// memory (pages that the allocator keeps), by two threads and four descriptors (a watch that is being opened anew).
TEST(Soak, TheOperatorStaysAsItIs) {
  auto& plane = kube::ControlPlane::Shared();
  Runner runner(plane);
  runner.LeaveOut(Verb::kRestart);  // it would begin anew
  Clock& clock = SystemClock();
  const MonoTime begin = clock.Monotonic(), end = begin + Length();
  std::vector<Sample> samples;
  runner.AfterSequence([&] {
    OperatorProcess& process = runner.world().process();
    samples.push_back({std::chrono::duration_cast<Millis>(clock.Monotonic() - begin), runner.actions(),
                       process.ResidentKiB(), process.Threads(), process.Descriptors()});
    return clock.Monotonic() < end;
  });
  for (std::uint64_t seed = 1'000'000 + FirstSeed(10'000); clock.Monotonic() < end; seed = runner.seed()) {
    std::string wrong = runner.Sequences(seed, seed + kSequencesPerBeginning);
    ASSERT_EQ(wrong, "") << "sequence " << runner.seed() << "\n" << ToString(runner.taken());
  }
  Print(samples);
  const size_t n = samples.size();
  ASSERT_GE(n, 8u) << "too short to tell: set SOAK_SECONDS to more";
  auto median = [&](size_t quarter, size_t Sample::*what) {
    return Median(Of(samples, quarter * n / 4, (quarter + 1) * n / 4, what));
  };
  EXPECT_LE(median(3, &Sample::kib), median(1, &Sample::kib) * 11 / 10 + 2048) << "memory grows";
  EXPECT_LE(median(3, &Sample::threads), median(1, &Sample::threads) + 2) << "threads grow";
  EXPECT_LE(median(3, &Sample::descriptors), median(1, &Sample::descriptors) + 4) << "descriptors grow";
}

}  // namespace
}  // namespace capi::e2e::model
