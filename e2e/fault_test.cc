// An API server that is slow, refuses, forgets what it said, cuts its answers short and goes away: whatever the mix, a
// provider's life goes through the same states, and the server isn't run over (F3).
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/testing/length.h"
#include "e2e/lane.h"
#include "e2e/weather.h"

namespace capi::e2e {
namespace {

// Before a removal all kinds of a provider are read in one pass (X2), and every third or fourth of these reads fails.
constexpr Seconds kChapter{600};

// One life in the weather of `seed`.
void LiveInBadWeather(Lane& lane, const Story& story, const Undisturbed& calm, unsigned seed) {
  SCOPED_TRACE(fmt::format("CAPI_TEST_SEED={}", seed));
  auto weather = std::make_shared<Weather>(seed);
  lane.proxy().SetFaults([weather](const kube::ProxyRequest& request) { return weather->Next(request); });
  std::jthread sky([&](std::stop_token stop) {
    Mutex mu;
    std::condition_variable_any changed;
    MutexLock lock(mu);
    while (!stop.stop_requested()) {
      changed.wait_for(mu, stop, weather->There(), [] { return false; });
      weather->Note("away");
      lane.proxy().SetAway(true);
      changed.wait_for(mu, stop, weather->Away(), [] { return false; });
      lane.proxy().SetAway(false);
    }
  });
  lane.StartOperator();
  for (size_t i = 0; i < story.chapters.size() && !::testing::Test::HasFailure(); ++i) {
    const Chapter& chapter = story.chapters[i];
    chapter.begin();
    bool over = kube::Eventually(
        [&] {
          lane.KeepOperator();
          return chapter.over();
        },
        kChapter, Millis(150));
    EXPECT_TRUE(over) << chapter.name << " didn't end: " << story.Describe(lane.cluster());
    EXPECT_EQ(lane.AwaitEnd(story, calm.ends[i]), "") << chapter.name;
  }
  EXPECT_THAT(weather->Lacks(), ::testing::IsEmpty()) << "too fine a weather";
  if (::testing::Test::HasFailure()) fmt::print(stderr, "---- seed {}, {}:\n{}", seed, story.name, lane.Said());
  sky = {};
  lane.proxy().SetFaults(nullptr);
  lane.EndOperator();
}

// The lives of a run, each in the weather of a seed of its own: CAPI_TEST_SEED's alone, else `count`. Thread-safe.
class Lives {
 public:
  explicit Lives(unsigned count) : count_(IsSet("CAPI_TEST_SEED") ? 1 : count), first_(TestSeed(count)) {}
  unsigned count() const { return count_; }
  void Live(Lane& lane, const Story& story) {
    Undisturbed calm = lane.LiveOnce(story);
    for (unsigned i = begun_++; i < count_ && !::testing::Test::HasFailure(); i = begun_++) {
      LiveInBadWeather(lane, story, calm, first_ + i);
      ++lived_;
    }
    lane.ExpectNothingLeft(story, calm);
  }
  void ExpectAllLived() const { EXPECT_EQ(lived_, count_) << "lives in bad weather"; }

 private:
  const unsigned count_, first_;
  std::atomic<unsigned> begun_ = 0, lived_ = 0;
};

// F3: install, upgrade, drift, rollback and deletion, side by side in several Namespaces.
TEST(Faults, LeadToTheSameStates) {
  Lives lives(ByLength(2u, 12u, 300u));
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::min(lives.count(), ByLength(2u, 4u, 4u)); ++i) {
    threads.emplace_back([&, i] {
      std::string ns = fmt::format("weather{}", i);
      Lane lane(kube::ControlPlane::Shared(), ns, /*alone=*/true);
      lives.Live(lane, SmallStory(lane.cluster(), ns));
    });
  }
  threads.clear();
  lives.ExpectAllLived();
}

// The same with what people run.
TEST(Faults, LeadRealProvidersToTheSameStates) {
  if (std::string missing = MissingForRealStory(); !missing.empty()) GTEST_SKIP() << missing;
  Lives lives(ByLength(1u, 1u, 20u));
  Lane lane(kube::ControlPlane::Shared(), "operator", /*alone=*/false);
  lives.Live(lane, RealStory(lane.cluster()));
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
  Lane lane(kube::ControlPlane::Shared(), ns, /*alone=*/true);
  Story story = SmallStory(lane.cluster(), ns);
  lane.StartOperator({"--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=100s"});
  story.chapters[0].begin();
  ASSERT_TRUE(kube::Eventually(story.chapters[0].over, Seconds(60))) << story.Describe(lane.cluster());
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
    kube::FaultProxy& proxy = lane.proxy();
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
    EXPECT_GE(attempts(), 4) << "it does go on asking";
    proxy.SetAway(false);
    proxy.SetFaults(nullptr);
  }
  lane.cluster().DeleteProvider(api::ProviderType::kCore, ns, "cluster-api");
  EXPECT_TRUE(kube::Eventually(story.chapters.back().over, Seconds(60))) << story.Describe(lane.cluster());
  lane.EndOperator();
}

}  // namespace
}  // namespace capi::e2e
