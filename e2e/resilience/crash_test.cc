// Crash everywhere (U7): the operator is killed right after its n-th request of each phase of a provider's life, and
// the next one ends in the very state that an undisturbed run ends in: all objects, normalised, nothing left over.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <random>
#include <thread>

#include "base/testing/length.h"
#include "e2e/resilience/disturbed_operator.h"

namespace capi::e2e {
namespace {

// Few lives at a time: other tests run beside this one.
constexpr int kSideBySide = 3;

using MakeScenario = Scenario (*)(Cluster&, const std::string& ns);

// Which crashes the operators of a scenario are to try: each n is taken once. Thread-safe.
class Turns {
 public:
  // All of them, in `make test` every eighth, in CI every fourth; CAPI_TEST_SEED names one.
  Turns()
      : given_(IsSet("CAPI_TEST_SEED")),
        first_(given_ ? static_cast<int>(TestSeed()) : TestPart().which + 1),
        step_(ByLength(8, TestPart().of, 1)),
        next_(first_) {}
  // nullopt: a life is shorter than that.
  std::optional<int> Take(int longest) {
    int n = next_.fetch_add(step_);
    if (n > longest || (given_ && n != first_)) return std::nullopt;
    return n;
  }
  bool given() const { return given_; }
  // Crashes that were to be in a phase, and those that were.
  void Add(int due, int crashes) {
    due_ += due;
    crashes_ += crashes;
  }
  // U7 is shown by operators that died. Some of the last requests aren't sent every time.
  void ExpectCrashes(const std::string& name) const {
    fmt::print("{}: {} crashes\n", name, crashes_.load());
    EXPECT_GE(crashes_, due_ * 3 / 4) << name;
    EXPECT_GE(due_, given_ ? 1 : ByLength(20, 100 / TestPart().of, 100)) << "a life of fewer requests isn't one";
  }

 private:
  const bool given_;
  const int first_, step_;
  std::atomic<int> next_, due_ = 0, crashes_ = 0;
};

// A life with a crash after request n of each phase.
void LiveWithCrashes(DisturbedOperator& disturbed, const Scenario& scenario, const Undisturbed& life, int n,
                     Turns& turns) {
  SCOPED_TRACE(fmt::format("CAPI_TEST_SEED={}", n));
  for (size_t phase = 0; phase < scenario.phases.size(); ++phase) {
    int crashes = disturbed.Crash(scenario, phase, {n}, life);
    turns.Add(n <= life.requests[phase] ? 1 : 0, crashes);
  }
}

// Lives, as long as there are turns.
void TakeTurns(DisturbedOperator& disturbed, const Scenario& scenario, const Undisturbed& life, Turns& turns) {
  int longest = *std::max_element(life.requests.begin(), life.requests.end());
  while (!::testing::Test::HasFailure()) {
    auto n = turns.Take(longest + 5);
    if (!n) break;
    LiveWithCrashes(disturbed, scenario, life, *n, turns);
  }
}

// Several lives go on side by side.
void CrashEverywhere(MakeScenario make, const std::string& name) {
  Turns turns;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kSideBySide; ++i) {
    threads.emplace_back([&, i] {
      std::string ns = fmt::format("{}{}", name, i);
      DisturbedOperator disturbed(kube::ControlPlane::Shared(), ns, /*alone=*/true);
      Scenario scenario = make(disturbed.cluster(), ns);
      Undisturbed life = disturbed.LiveOnce(scenario);
      TakeTurns(disturbed, scenario, life, turns);
      disturbed.ExpectNothingLeft(scenario, life);
    });
  }
  threads.clear();
  if (!::testing::Test::HasFailure()) turns.ExpectCrashes(name);
}

TEST(CrashEverywhere, ASmallProvider) { CrashEverywhere(SmallScenario, "disturbed"); }
// U13: what a policy has come to, and what failed, survives.
TEST(CrashEverywhere, APolicy) { CrashEverywhere(PolicyScenario, "policy"); }
TEST(CrashEverywhere, AContractChange) { CrashEverywhere(ContractScenario, "pair"); }

// One after the other within each phase, so that what a crash left is met by the next one too. The first ones die
// soon, while there is much left to do for the others.
void LiveOnceWithSeededCrashes(DisturbedOperator& disturbed, const Scenario& scenario, const Undisturbed& life) {
  const unsigned seed = TestSeed();
  // In the long mode a seed that is given is an n.
  SCOPED_TRACE(fmt::format("{}CAPI_TEST_SEED={}", ByLength("", "CAPI_TEST_FULL=1 ", "CAPI_TEST_FULL=1 "), seed));
  std::mt19937 random(seed);
  const int each = ByLength(1, 5, 5);
  int crashes = 0;
  for (size_t phase = 0; phase < scenario.phases.size(); ++phase) {
    std::vector<int> kills;
    for (int i = each; i >= 1; --i) kills.push_back(1 + static_cast<int>(random() % (life.requests[phase] / i)));
    crashes += disturbed.Crash(scenario, phase, kills, life);
  }
  fmt::print("{}: {} crashes\n", scenario.name, crashes);
  // Now and then the last one of a phase comes too late.
  EXPECT_GE(crashes, each * static_cast<int>(scenario.phases.size()) * 3 / 4) << scenario.name;
}

// In the long mode with each n too; with CAPI_TEST_SEED there, that n alone.
void CrashReal(Scenario (*make)(Cluster&)) {
  DisturbedOperator disturbed(kube::ControlPlane::Shared(), "operator", /*alone=*/false);
  Scenario scenario = make(disturbed.cluster());
  Undisturbed life = disturbed.LiveOnce(scenario);
  if (TestLength() != Length::kLong) {
    LiveOnceWithSeededCrashes(disturbed, scenario, life);
  } else {
    Turns turns;
    if (!turns.given()) LiveOnceWithSeededCrashes(disturbed, scenario, life);
    TakeTurns(disturbed, scenario, life, turns);
    if (!::testing::Test::HasFailure()) turns.ExpectCrashes(scenario.name);
  }
  disturbed.ExpectNothingLeft(scenario, life);
}

TEST(CrashEverywhere, TheRealFour) {
  if (std::string missing = MissingForRealScenario(); !missing.empty()) GTEST_SKIP() << missing;
  CrashReal(RealScenario);
}
TEST(CrashEverywhere, TheRealFourAndAContractChange) {
  if (std::string missing = MissingForRealContractScenario(); !missing.empty()) GTEST_SKIP() << missing;
  CrashReal(RealContractScenario);
}

}  // namespace
}  // namespace capi::e2e
