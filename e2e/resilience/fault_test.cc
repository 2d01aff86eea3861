// An API server that is slow, refuses, forgets what it said, cuts its answers short and goes away: whatever the mix, a
// provider's life goes through the same states, and the server isn't run over (F3).
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/testing/length.h"
#include "e2e/resilience/disturbed_operator.h"
#include "e2e/resilience/fault_injection.h"

namespace capi::e2e {
namespace {

// Before a removal all kinds of a provider are read in one pass (X2), and every third or fourth of these reads fails.
constexpr Seconds kPhase{600};

// One life in the faults of `seed`.
void LiveWithFaults(DisturbedOperator& disturbed, const Scenario& scenario, const Undisturbed& undisturbed,
                    unsigned seed) {
  SCOPED_TRACE(fmt::format("CAPI_TEST_SEED={}", seed));
  auto faults = std::make_shared<FaultInjection>(seed);
  disturbed.proxy().SetFaults([faults](const kube::ProxyRequest& request) { return faults->Next(request); });
  std::jthread outages([&](std::stop_token stop) {
    Mutex mu;
    std::condition_variable_any changed;
    MutexLock lock(mu);
    while (!stop.stop_requested()) {
      changed.wait_for(mu, stop, faults->There(), [] { return false; });
      faults->Note("away");
      disturbed.proxy().SetAway(true);
      changed.wait_for(mu, stop, faults->Away(), [] { return false; });
      disturbed.proxy().SetAway(false);
    }
  });
  disturbed.StartOperator();
  for (size_t i = 0; i < scenario.phases.size() && !::testing::Test::HasFailure(); ++i) {
    const Phase& phase = scenario.phases[i];
    phase.begin();
    bool over = kube::Eventually(
        [&] {
          disturbed.KeepOperator();
          return phase.over();
        },
        kPhase, Millis(150));
    EXPECT_TRUE(over) << phase.name << " didn't end: " << scenario.Describe(disturbed.cluster());
    EXPECT_EQ(disturbed.AwaitEnd(scenario, undisturbed.ends[i]), "") << phase.name;
  }
  EXPECT_THAT(faults->Lacks(), ::testing::IsEmpty()) << "too few faults";
  if (::testing::Test::HasFailure()) fmt::print(stderr, "---- seed {}, {}:\n{}", seed, scenario.name, disturbed.Said());
  outages = {};
  disturbed.proxy().SetFaults(nullptr);
  disturbed.EndOperator();
}

// The lives of a run, each in the faults of a seed of its own: CAPI_TEST_SEED's alone, else `count`. Thread-safe.
class Lives {
 public:
  explicit Lives(unsigned count) : count_(IsSet("CAPI_TEST_SEED") ? 1 : count), first_(TestSeed(count)) {}
  unsigned count() const { return count_; }
  void Live(DisturbedOperator& disturbed, const Scenario& scenario) {
    Undisturbed undisturbed = disturbed.LiveOnce(scenario);
    for (unsigned i = begun_++; i < count_ && !::testing::Test::HasFailure(); i = begun_++) {
      LiveWithFaults(disturbed, scenario, undisturbed, first_ + i);
      ++lived_;
    }
    disturbed.ExpectNothingLeft(scenario, undisturbed);
  }
  void ExpectAllLived() const { EXPECT_EQ(lived_, count_) << "lives with faults"; }

 private:
  const unsigned count_, first_;
  std::atomic<unsigned> begun_ = 0, lived_ = 0;
};

using MakeScenario = Scenario (*)(Cluster&, const std::string& ns);

// Several lives go on side by side, each in Namespaces of its own.
void LiveSideBySide(MakeScenario make, const std::string& name, unsigned count) {
  Lives lives(count);
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::min(lives.count(), 4u); ++i) {
    threads.emplace_back([&, i] {
      std::string ns = fmt::format("{}{}", name, i);
      DisturbedOperator disturbed(kube::ControlPlane::Shared(), ns, /*alone=*/true);
      lives.Live(disturbed, make(disturbed.cluster(), ns));
    });
  }
  threads.clear();
  lives.ExpectAllLived();
}

// F3: install, upgrade, drift, rollback and deletion.
TEST(Faults, LeadToTheSameStates) { LiveSideBySide(SmallScenario, "faults", ByLength(2u, 12u, 300u)); }
// U13: what a policy has come to, and what failed, is the same.
TEST(Faults, LeadAPolicyToTheSameStates) { LiveSideBySide(PolicyScenario, "policy", ByLength(1u, 4u, 100u)); }

// The same with what people run.
TEST(Faults, LeadRealProvidersToTheSameStates) {
  if (std::string missing = MissingForRealScenario(); !missing.empty()) GTEST_SKIP() << missing;
  Lives lives(ByLength(1u, 1u, 20u));
  DisturbedOperator disturbed(kube::ControlPlane::Shared(), "operator", /*alone=*/false);
  lives.Live(disturbed, RealScenario(disturbed.cluster()));
  lives.ExpectAllLived();
}

struct Absence {
  const char* name;
  std::function<void(kube::FaultProxy&)> begin;
};

// F3: at most two requests a second, whichever way the server is away; and everything goes on when it is back.
TEST(Faults, AnAbsentServerIsAskedTwiceASecond) {
  const std::string ns = "absent";
  constexpr Seconds kWindow{6};
  DisturbedOperator disturbed(kube::ControlPlane::Shared(), ns, /*alone=*/true);
  Scenario scenario = SmallScenario(disturbed.cluster(), ns);
  disturbed.StartOperator({"--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=100s"});
  scenario.phases[0].begin();
  ASSERT_TRUE(kube::Eventually(scenario.phases[0].over, Seconds(60))) << scenario.Describe(disturbed.cluster());
  const Absence absences[] = {
      {"nobody listens", [](kube::FaultProxy& proxy) { proxy.SetAway(true); }},
      {"every connection is closed",
       [](kube::FaultProxy& proxy) {
         proxy.SetFaults([](const kube::ProxyRequest&) { return kube::Fault{.drop = true}; });
         proxy.CutAllConnections();
       }},
  };
  for (const auto& absence : absences) {
    SCOPED_TRACE(absence.name);
    kube::FaultProxy& proxy = disturbed.proxy();
    auto attempts = [&] { return proxy.refused() + static_cast<int>(proxy.requests().size()); };
    proxy.Reset();  // or what it was asked for before would do
    absence.begin(proxy);
    // Those that are under way when it goes may all come at once.
    ASSERT_TRUE(kube::Eventually([&] { return attempts() > 0; }));
    auto begin = SystemClock().Monotonic();
    proxy.Reset();
    kube::Eventually([&] { return SystemClock().Monotonic() - begin >= kWindow; }, 2 * kWindow);
    double seconds = std::chrono::duration<double>(SystemClock().Monotonic() - begin).count();
    EXPECT_LE(attempts(), 2 * seconds + 4);
    EXPECT_GE(attempts(), 2) << "it does go on asking: the lease alone every two seconds";
    proxy.SetAway(false);
    proxy.SetFaults(nullptr);
  }
  disturbed.cluster().DeleteProvider(api::ProviderType::kCore, ns, "cluster-api");
  EXPECT_TRUE(kube::Eventually(scenario.phases.back().over, Seconds(60))) << scenario.Describe(disturbed.cluster());
  disturbed.EndOperator();
}

}  // namespace
}  // namespace capi::e2e
