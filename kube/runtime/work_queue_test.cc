#include "kube/runtime/work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "base/testing/await.h"
#include "base/testing/waiting_clock.h"
#include "kube/runtime/work_queue_testing.h"

namespace capi::kube {
namespace {

using testing::ElementsAre;

TEST(WorkQueue, GivesKeysInOrderAndEachOnce) {
  FakeClock clock;
  WorkQueue queue(clock, kNoJitter, kSeed);
  for (const char* key : {"a", "b", "a", "c", "b"}) queue.Add(key, Priority::kNormal);
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_THAT(Drain(queue), ElementsAre("a", "b", "c"));
}

TEST(WorkQueue, AddedWhileInWorkComesAgainOnceAfterDone) {
  FakeClock clock;
  WorkQueue queue(clock, kNoJitter, kSeed);
  queue.Add("a", Priority::kNormal);
  EXPECT_EQ(Take(queue), "a");
  queue.Add("a", Priority::kNormal);
  queue.Add("a", Priority::kNormal);
  EXPECT_EQ(queue.size(), 0u) << "a key is never with two workers";
  queue.Done("a");
  EXPECT_THAT(Drain(queue), ElementsAre("a"));
}

TEST(WorkQueue, DelayedKeysComeWhenTheirTimeHasCome) {
  struct Case {
    std::string_view name;
    std::vector<Millis> delays;
    bool add_now;
    Millis advance;
    size_t ready;
  };
  const Case cases[] = {
      {"not yet", {Millis(100)}, false, Millis(99), 0},
      {"on time", {Millis(100)}, false, Millis(100), 1},
      {"the earliest wins when it comes second", {Millis(500), Millis(100)}, false, Millis(100), 1},
      {"the earliest wins when it comes first", {Millis(100), Millis(500)}, false, Millis(100), 1},
      {"no delay is now", {Millis(0)}, false, Millis(0), 1},
      {"a negative delay is now", {Millis(-5)}, false, Millis(0), 1},
      {"Add before is enough", {Millis(100)}, true, Millis(0), 1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    FakeClock clock;
    WorkQueue queue(clock, kNoJitter, kSeed);
    if (c.add_now) queue.Add("a", Priority::kNormal);
    for (Millis delay : c.delays) queue.AddAfter("a", delay);
    clock.Advance(c.advance);
    queue.Add("probe", Priority::kNormal);  // Get looks at the time
    std::vector<std::string> got;
    for (size_t i = 0; i <= c.ready; ++i) {
      got.push_back(Take(queue));
      queue.Done(got.back());
    }
    EXPECT_EQ(std::count(got.begin(), got.end(), "a"), static_cast<long>(c.ready));
    clock.Advance(Seconds(10));
    queue.Add("end", Priority::kNormal);
    EXPECT_EQ(Drain(queue).back() == "a", c.ready == 0 && !c.add_now) << "each key came exactly once";
  }
}

// F6: what a pass finds that time alone began, no event told of.
TEST(WorkQueue, TellsWhatTimeAloneBegan) {
  FakeClock clock;
  WorkQueue queue(clock, kNoJitter, kSeed);
  auto begin = [&] {
    clock.Advance(Millis(100));
    EXPECT_EQ(Take(queue), "a");
  };
  queue.AddAfter("a", Millis(100));
  begin();
  EXPECT_TRUE(queue.ByTimeAlone("a"));
  queue.Add("a", Priority::kNormal);
  EXPECT_FALSE(queue.ByTimeAlone("a")) << "an event came meanwhile";
  queue.Done("a");
  begin();
  EXPECT_FALSE(queue.ByTimeAlone("a")) << "an event began it";
  queue.AddAfter("a", Millis(100));
  queue.Done("a");
  begin();
  EXPECT_TRUE(queue.ByTimeAlone("a"));
  queue.Done("a");
  EXPECT_FALSE(queue.ByTimeAlone("a")) << "nothing is under way";
  queue.AddAfter("a", Millis(100));
  begin();
  queue.AddAfter("a", Millis(0));
  queue.Done("a");
  begin();
  EXPECT_FALSE(queue.ByTimeAlone("a")) << "it goes on at once";
  queue.Done("a");
  queue.AddAfter("a", Millis(100));
  queue.Add("a", Priority::kNormal);
  begin();
  EXPECT_FALSE(queue.ByTimeAlone("a")) << "the event came first";
  queue.Done("a");
  queue.AddAfter("a", Millis(100), Priority::kNormal);
  queue.Add("a", Priority::kLater);
  begin();
  EXPECT_FALSE(queue.ByTimeAlone("a")) << "an event asked for it, and its time for more haste";
}

TEST(WorkQueue, AddSupersedesADelay) {
  FakeClock clock;
  WorkQueue queue(clock, kNoJitter, kSeed);
  queue.AddAfter("a", Millis(100));
  queue.Add("a", Priority::kNormal);
  EXPECT_THAT(Drain(queue), ElementsAre("a"));
  clock.Advance(Seconds(1));
  queue.Add("b", Priority::kNormal);
  EXPECT_THAT(Drain(queue), ElementsAre("b"));
}

// Nothing is left of a delay that an Add came before.
TEST(WorkQueue, ADelayAfterOneThatWasSuperseded) {
  FakeClock clock;
  WorkQueue queue(clock, kNoJitter, kSeed);
  queue.AddAfter("a", Millis(100));
  queue.Add("a", Priority::kNormal);
  EXPECT_THAT(Drain(queue), ElementsAre("a"));
  queue.AddAfter("a", Millis(500));
  clock.Advance(Millis(500));
  queue.Add("b", Priority::kNormal);
  EXPECT_EQ(Take(queue), "b");
  EXPECT_EQ(Take(queue), "a");
}

// By the real clock, which looks at nothing before it is told to.
TEST(WorkQueue, WakesASleeperForWhatIsNew) {
  WaitingClock clock;
  WorkQueue queue(clock, kNoJitter, kSeed);
  {
    Getter getter(queue);
    EXPECT_TRUE(clock.AwaitWaiters(1));
    queue.Add("new", Priority::kNormal);
    EXPECT_EQ(getter.Wait(), "new");
  }
  {
    Getter getter(queue);
    EXPECT_TRUE(clock.AwaitWaiters(1));
    queue.AddAfter("due", Millis(1));
    EXPECT_EQ(getter.Wait(), "due");
  }
}

TEST(WorkQueue, BlockedGetWakesForANewKeyADueKeyAndAStop) {
  FakeClock clock;
  WorkQueue queue(clock, kNoJitter, kSeed);
  {
    Getter getter(queue);
    clock.AwaitWaiters(1);
    queue.Add("new", Priority::kNormal);
    EXPECT_EQ(getter.Wait(), "new");
  }
  {
    Getter getter(queue);
    clock.AwaitWaiters(1);
    queue.AddAfter("due", Millis(100));
    clock.Advance(Millis(100));
    EXPECT_EQ(getter.Wait(), "due");
  }
  {
    Getter getter(queue);
    clock.AwaitWaiters(1);
    getter.stop.request_stop();
    EXPECT_EQ(getter.Wait(), std::nullopt);
  }
}

TEST(WorkQueue, StoppedGetReturnsNothingThoughKeysAreReady) {
  FakeClock clock;
  WorkQueue queue(clock, kNoJitter, kSeed);
  queue.Add("a", Priority::kNormal);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(queue.Get(stop.get_token()), std::nullopt);
}

// The delay of the next failure, when the time that was told has come.
Millis FailOnTime(WorkQueue& queue, FakeClock& clock, const std::string& key) {
  Millis delay = queue.Backoff(key);
  clock.Advance(delay);
  return delay;
}

// F5.
TEST(WorkQueue, BackoffDoublesToItsLimitAndStartsAnewAfterForget) {
  FakeClock clock;
  WorkQueue queue(clock, kNoJitter, kSeed);
  for (int expected : {100, 200, 400, 800, 1000, 1000}) EXPECT_EQ(FailOnTime(queue, clock, "a"), Millis(expected));
  EXPECT_EQ(FailOnTime(queue, clock, "b"), Millis(100)) << "keys fail by themselves";
  queue.Forget("a");
  EXPECT_EQ(FailOnTime(queue, clock, "a"), Millis(100));
  EXPECT_EQ(queue.Backoff("a", Seconds(30)), Seconds(30)) << "Retry-After is honoured (F3)";
}

// F5: events that come in between bring tries, but neither move the time that was told nor double the next one.
TEST(WorkQueue, ATryBeforeItsTimeLeavesTheBackoffAsItWas) {
  FakeClock clock;
  WorkQueue queue(clock, kNoJitter, kSeed);
  EXPECT_EQ(FailOnTime(queue, clock, "a"), Millis(100));
  EXPECT_EQ(queue.Backoff("a"), Millis(200));
  for (int left : {150, 100, 50}) {
    clock.Advance(Millis(50));
    EXPECT_EQ(queue.Backoff("a"), Millis(left));
  }
  EXPECT_EQ(queue.Backoff("a", Seconds(3)), Seconds(3)) << "the server asks for more";
  EXPECT_EQ(queue.Backoff("a"), Seconds(3)) << "which is told from then on";
  clock.Advance(Seconds(3));
  EXPECT_EQ(queue.Backoff("a"), Millis(400));
}

// A failure of another kind has a back-off of its own.
TEST(WorkQueue, AnotherBackoffBeginsAnew) {
  const BackoffOptions slow{.base = Seconds(15), .max = Seconds(20), .jitter = 0};
  FakeClock clock;
  WorkQueue queue(clock, kNoJitter, kSeed);
  for (int expected : {100, 200, 400}) EXPECT_EQ(FailOnTime(queue, clock, "a"), Millis(expected));
  EXPECT_EQ(queue.Backoff("a", slow), Seconds(15));
  clock.Advance(Seconds(15));
  EXPECT_EQ(queue.Backoff("a", slow), Seconds(20));
  EXPECT_EQ(queue.Backoff("a"), Millis(100)) << "and what fails otherwise doesn't wait for it";
}

TEST(WorkQueue, BackoffNeverOverflows) {
  FakeClock clock;
  WorkQueue queue(clock, {.base = Millis(200), .max = Seconds(120), .jitter = 0.2}, kSeed);
  for (int i = 0; i < 5000; ++i) EXPECT_LE(FailOnTime(queue, clock, "a"), Seconds(120));
}

TEST(WorkQueue, JitterSpreadsTheDelays) {
  FakeClock clock;
  WorkQueue queue(clock, {.base = Millis(1000), .max = Seconds(120), .jitter = 0.2}, kSeed);
  std::set<Millis> seen;
  for (int i = 0; i < 100; ++i) {
    Millis delay = queue.Backoff(std::to_string(i));
    EXPECT_GE(delay, Millis(800));
    EXPECT_LE(delay, Millis(1200));
    seen.insert(delay);
  }
  EXPECT_GT(seen.size(), 50u);
}

TEST(WorkQueue, TellsOfItsWork) {
  FakeClock clock;
  RecordedEvents events;
  WorkQueue queue(clock, kNoJitter, kSeed, &events);
  queue.Add("a", Priority::kNormal);
  queue.Add("a", Priority::kNormal);
  queue.AddAfter("b", Seconds(2), Priority::kLater);
  clock.Advance(Seconds(3));
  std::stop_token never;
  ASSERT_EQ(queue.Get(never), "a");
  queue.Add("b", Priority::kNow);
  clock.Advance(Seconds(4));
  queue.Done("a");
  ASSERT_EQ(queue.Get(never), "b");
  EXPECT_THAT(events.lines, ElementsAre("add", "normal: 1", "add after", "add", "later: 1", "normal: waited 3",
                                        "normal: 0", "later: 0", "now: 1", "worked 4", "now: waited 4", "now: 0"));
}

// Four workers, four producers, eight keys: no key is ever with two workers, and the last Add of each key is followed
// by work on it.
TEST(WorkQueue, KeepsItsPromiseUnderStress) {
  constexpr int kKeys = 8, kAdds = 2000;
  WorkQueue queue(SystemClock(), {.base = Millis(1), .max = Millis(2), .jitter = 0.5}, kSeed);
  std::array<std::atomic<int>, kKeys> in_work{}, wanted{}, seen{};
  std::atomic<bool> overlapped = false;
  std::stop_source stop;
  std::vector<std::thread> workers, producers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&] {
      while (auto key = queue.Get(stop.get_token())) {
        auto index = static_cast<size_t>(std::stoi(*key));
        if (in_work[index].fetch_add(1) != 0) overlapped = true;
        seen[index] = wanted[index].load();
        in_work[index].fetch_sub(1);
        queue.Done(*key);
      }
    });
  }
  for (int p = 0; p < 4; ++p) {
    producers.emplace_back([&, p] {
      for (int i = 0; i < kAdds; ++i) {
        auto index = static_cast<size_t>((i * 7 + p) % kKeys);
        ++wanted[index];
        if (i % 3 == 0) queue.AddAfter(std::to_string(index), queue.Backoff(std::to_string(index)));
        queue.Add(std::to_string(index), kPriorities.at(static_cast<size_t>(i + p) % kPriorities.size()));
      }
    });
  }
  for (auto& producer : producers) producer.join();
  auto all_seen = [&] {
    for (size_t i = 0; i < kKeys; ++i) {
      if (seen[i] != wanted[i]) return false;
    }
    return true;
  };
  EXPECT_TRUE(Await(all_seen));
  EXPECT_FALSE(overlapped);
  stop.request_stop();
  for (auto& worker : workers) worker.join();
}

}  // namespace
}  // namespace capi::kube
