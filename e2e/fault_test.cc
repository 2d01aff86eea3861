// An API server that is slow, refuses, forgets what it said, cuts its answers short and goes away: whatever the mix, a
// provider's life goes through the same states, and the server isn't run over (F3).
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "e2e/lane.h"
#include "e2e/weather.h"

namespace capi::e2e {
namespace {

constexpr Seconds kChapter{240};

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
  EXPECT_GE(weather->faults(), 20) << "too fine a weather";
  if (::testing::Test::HasFailure()) fmt::print(stderr, "---- seed {}, {}:\n{}", seed, story.name, lane.Said());
  sky = {};
  lane.proxy().SetFaults(nullptr);
  lane.EndOperator();
}

void LiveInBadWeathers(Lane& lane, const Story& story, unsigned last, std::atomic<unsigned>& next) {
  Undisturbed calm = lane.LiveOnce(story);
  for (unsigned seed = next++; seed <= last && !::testing::Test::HasFailure(); seed = next++) {
    LiveInBadWeather(lane, story, calm, seed);
  }
}

// F3: install, upgrade, drift, rollback and deletion, side by side in several Namespaces.
TEST(Faults, LeadToTheSameStates) {
  const unsigned first = TestSeed();
  const unsigned lives = std::getenv("CAPI_TEST_SEED") != nullptr ? 1 : LongTest() ? 300 : 4;
  std::atomic<unsigned> next = first;
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::min(lives, 4u); ++i) {
    threads.emplace_back([&, i] {
      std::string ns = fmt::format("weather{}", i);
      Lane lane(kube::ControlPlane::Shared(), ns, /*alone=*/true);
      LiveInBadWeathers(lane, SmallStory(lane.cluster(), ns), first + lives - 1, next);
    });
  }
}

// The same with what people run.
TEST(Faults, LeadRealProvidersToTheSameStates) {
  if (!LongTest()) GTEST_SKIP() << "CAPI_TEST_LONG isn't set";
  if (ReleasesDir().empty()) GTEST_SKIP() << "RELEASES_DIR isn't set";
  std::atomic<unsigned> next = TestSeed();
  Lane lane(kube::ControlPlane::Shared(), "operator", /*alone=*/false);
  LiveInBadWeathers(lane, RealStory(lane.cluster()), next + 19, next);
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
