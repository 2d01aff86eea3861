// Crash everywhere (U7): the operator is killed right after its n-th request of each chapter of a provider's life, and
// the next one ends in the very state that an undisturbed run ends in: all objects, normalised, nothing left over.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "e2e/lane.h"

namespace capi::e2e {
namespace {

constexpr int kRealCrashes = 16;  // of each of the two stories

using MakeStory = Story (*)(Cluster&, const std::string& ns);

// Which crashes the lanes of a small story are to try: all, each is taken once. Thread-safe.
class Turns {
 public:
  int Take() { return next_++; }
  int taken() const { return next_; }

 private:
  std::atomic<int> next_ = 1;
};

void ExpectNothingLeft(Lane& lane, const Story& story, const Undisturbed& life) {
  lane.cluster().client().mapper().Invalidate();
  EXPECT_EQ(Difference(life.nothing_left, lane.Take(story.OfAllKinds())), "") << story.name << ": left over at the end";
}

// Lives again and again, each time with a crash after request n of each chapter, for the n that it gets.
void LiveWithCrashes(kube::ControlPlane& plane, MakeStory make, const std::string& ns, Turns& turns) {
  Lane lane(plane, ns, /*alone=*/true);
  Story story = make(lane.cluster(), ns);
  Undisturbed life = lane.LiveOnce(story);
  int longest = *std::max_element(life.requests.begin(), life.requests.end());
  for (int n = turns.Take(); n <= longest + 5 && !::testing::Test::HasFailure(); n = turns.Take()) {
    for (size_t chapter = 0; chapter < story.chapters.size(); ++chapter) lane.Crash(story, chapter, {n}, life);
  }
  ExpectNothingLeft(lane, story, life);
}

// Several lives go on side by side.
void CrashEverywhere(MakeStory make, const std::string& name) {
  Turns turns;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(
        [&, i] { LiveWithCrashes(kube::ControlPlane::Shared(), make, fmt::format("{}{}", name, i), turns); });
  }
  threads.clear();
  EXPECT_GE(turns.taken(), 20) << "a life of fewer requests isn't one";
}

TEST(CrashEverywhere, ASmallProvider) { CrashEverywhere(SmallStory, "lane"); }
TEST(CrashEverywhere, AContractChange) { CrashEverywhere(ContractStory, "pair"); }

// One after the other within each chapter, so that what a crash left is met by the next one too. The first ones die
// soon, while there is much left to do for the others.
void LiveOnceWithSeededCrashes(Lane& lane, const Story& story, const Undisturbed& life, std::mt19937& random) {
  int crashes = 0;
  int each = kRealCrashes / static_cast<int>(story.chapters.size()) + 1;
  for (size_t chapter = 0; chapter < story.chapters.size(); ++chapter) {
    std::vector<int> kills;
    for (int i = each; i >= 1; --i) kills.push_back(1 + static_cast<int>(random() % (life.requests[chapter] / i)));
    crashes += lane.Crash(story, chapter, kills, life);
  }
  fmt::print("{}: {} crashes\n", story.name, crashes);
  EXPECT_GE(crashes, kRealCrashes - 1) << story.name;
}

void CrashReal(Story (*make)(Cluster&)) {
  if (ReleasesDir().empty()) GTEST_SKIP() << "RELEASES_DIR isn't set";
  Lane lane(kube::ControlPlane::Shared(), "operator", /*alone=*/false);
  Story story = make(lane.cluster());
  Undisturbed life = lane.LiveOnce(story);
  std::mt19937 random(TestSeed());
  LiveOnceWithSeededCrashes(lane, story, life, random);
  int longest = *std::max_element(life.requests.begin(), life.requests.end());
  for (int n = 1; LongTest() && n <= longest + 5 && !::testing::Test::HasFailure(); ++n) {
    for (size_t chapter = 0; chapter < story.chapters.size(); ++chapter) lane.Crash(story, chapter, {n}, life);
  }
  ExpectNothingLeft(lane, story, life);
}

TEST(CrashEverywhere, TheRealFour) { CrashReal(RealStory); }
TEST(CrashEverywhere, TheRealFourAndAContractChange) { CrashReal(RealContractStory); }

}  // namespace
}  // namespace capi::e2e
