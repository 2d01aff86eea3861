#include "kube/runtime/work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "base/testing/await.h"
#include "base/testing/waiting_clock.h"

namespace capi::kube {
namespace {

using testing::ElementsAre;

constexpr unsigned kSeed = 7;
const BackoffOptions kNoJitter{.base = Millis(100), .max = Millis(1000), .jitter = 0};

constexpr Seconds kLong(30);  // a test that waits longer has failed
constexpr const char* kNothing = "nothing came";

// Get on another thread, which Wait ends: a key that doesn't come fails the test and doesn't hang it.
struct Getter {
  explicit Getter(WorkQueue& queue)
      : key(std::async(std::launch::async, [this, &queue] { return queue.Get(stop.get_token()); })) {}
  std::optional<std::string> Wait() {
    if (key.wait_for(kLong) != std::future_status::ready) {
      ADD_FAILURE() << kNothing;
      stop.request_stop();
    }
    return key.get();
  }
  std::stop_source stop;
  std::future<std::optional<std::string>> key;
};

std::string Take(WorkQueue& queue) { return Getter(queue).Wait().value_or(kNothing); }

// Takes and finishes everything that is ready now.
std::vector<std::string> Drain(WorkQueue& queue) {
  std::vector<std::string> out;
  while (queue.size() > 0 && (out.empty() || out.back() != kNothing)) {
    out.push_back(Take(queue));
    queue.Done(out.back());
  }
  return out;
}

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

// What a queue tells, in its order.
struct RecordedEvents : WorkQueueEvents {
  void OnSize(Priority priority, size_t size) override { lines.push_back(NameOf(priority) + std::to_string(size)); }
  void OnAdd() override { lines.emplace_back("add"); }
  void OnAddAfter() override { lines.emplace_back("add after"); }
  void OnGet(Priority priority, MonoTime::duration waited) override {
    lines.push_back(NameOf(priority) + "waited " + InSeconds(waited));
  }
  void OnDone(MonoTime::duration worked) override { lines.push_back("worked " + InSeconds(worked)); }
  static std::string NameOf(Priority priority) {
    return priority == Priority::kNow ? "now: " : priority == Priority::kNormal ? "normal: " : "later: ";
  }
  static std::string InSeconds(MonoTime::duration time) {
    return std::to_string(std::chrono::duration_cast<Seconds>(time).count());
  }
  std::vector<std::string> lines;
};

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

// What happens to a queue: a key is added with a priority, or time goes by.
struct Act {
  std::string key;
  Priority priority = Priority::kNormal;
  Seconds passes{0};
};

// F10.
TEST(WorkQueue, HigherPrioritiesComeFirst_F10) {
  constexpr Priority kNow = Priority::kNow, kNormal = Priority::kNormal, kLater = Priority::kLater;
  struct Case {
    std::string_view name;
    std::vector<Act> acts;
    std::vector<std::string> order;
  };
  const Case cases[] = {
      {"the highest first", {{"l", kLater}, {"m", kNormal}, {"n", kNow}}, {"n", "m", "l"}},
      {"of one priority as they came", {{"c", kNow}, {"a", kNow}, {"b", kNow}}, {"c", "a", "b"}},
      {"it moves up, as the last there", {{"a", kLater}, {"b", kLater}, {"c", kNow}, {"b", kNow}}, {"c", "b", "a"}},
      {"by one", {{"a", kLater}, {"b", kLater}, {"c", kNormal}, {"b", kNormal}}, {"c", "b", "a"}},
      {"and not down", {{"a", kNow}, {"b", kNormal}, {"a", kLater}, {"b", kLater}, {"c", kNormal}}, {"a", "b", "c"}},
      {"who is asked for again keeps his place", {{"a", kNow}, {"b", kNow}, {"a", kNow}}, {"a", "b"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    FakeClock clock;
    WorkQueue queue(clock, kNoJitter, kSeed);
    for (const Act& act : c.acts) queue.Add(act.key, act.priority);
    EXPECT_EQ(queue.size(), c.order.size());
    EXPECT_EQ(Drain(queue), c.order);
  }
}

// F10: nobody waits for good, and nobody who is overdue keeps those of a higher priority waiting for more than a turn.
TEST(WorkQueue, WhoIsOverdueGetsATurn_F10) {
  constexpr Priority kNow = Priority::kNow, kNormal = Priority::kNormal, kLater = Priority::kLater;
  const Act just_not = {"", kNow, kOverdue - Seconds(1)}, second = {"", kNow, Seconds(1)},
            long_ago = {"", kNow, kOverdue};
  struct Case {
    std::string_view name;
    std::vector<Act> acts;
    std::vector<std::string> order;
  };
  const Act n1{"n1", kNow}, n2{"n2", kNow}, n3{"n3", kNow}, n4{"n4", kNow}, n5{"n5", kNow};
  const Case cases[] = {
      {"it hasn't waited for long", {{"l", kLater}, just_not, n1, n2, n3, n4, n5}, {"n1", "n2", "n3", "n4", "n5", "l"}},
      {"it has: the fourth turn",
       {{"l", kLater}, just_not, second, n1, n2, n3, n4, n5},
       {"n1", "n2", "n3", "l", "n4", "n5"}},
      {"so has one of the middle", {{"m", kNormal}, long_ago, n1, n2, n3, n4, n5}, {"n1", "n2", "n3", "m", "n4", "n5"}},
      {"the one that has waited for the longest, whatever its priority",
       {{"l", kLater}, second, {"m", kNormal}, long_ago, n1, n2, n3, n4, n5},
       {"n1", "n2", "n3", "l", "n4", "n5", "m"}},
      {"a crowd of them keeps nobody waiting for more than one turn",
       {{"l1", kLater}, {"l2", kLater}, {"l3", kLater}, long_ago, long_ago, n1, n2, n3, n4, n5},
       {"n1", "n2", "n3", "l1", "n4", "n5", "l2", "l3"}},
      {"also where the others have waited for as long",
       {n1, n2, n3, {"l", kLater}, second, n4, n5, long_ago},
       {"n1", "n2", "n3", "n4", "n5", "l"}},
      {"its time counts from when it was asked for first",
       {{"l", kLater}, long_ago, {"l", kNormal}, n1, n2, n3, n4, n5},
       {"n1", "n2", "n3", "l", "n4", "n5"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    FakeClock clock;
    WorkQueue queue(clock, kNoJitter, kSeed);
    for (const Act& act : c.acts) {
      if (!act.key.empty()) queue.Add(act.key, act.priority);
      clock.Advance(act.passes);
    }
    EXPECT_EQ(Drain(queue), c.order);
  }
}

// F10: as many come as are worked on, without an end; the one of the lowest priority has its turn all the same.
TEST(WorkQueue, NobodyStarves_F10) {
  FakeClock clock;
  WorkQueue queue(clock, kNoJitter, kSeed);
  queue.Add("last", Priority::kLater);
  const std::vector<std::string> flood = {"a", "b", "c"};
  for (const std::string& key : flood) queue.Add(key, Priority::kNow);
  Seconds waited(0);
  for (std::string key; waited < Seconds(100); ++waited) {
    key = Take(queue);
    if (key == "last") break;
    clock.Advance(Seconds(1));
    queue.Add(key, Priority::kNow);
    queue.Done(key);
  }
  EXPECT_GE(waited, kOverdue);
  EXPECT_LE(waited, kOverdue + Seconds(kTurnsPerOverdue));
}

// F10: with which priority a key comes again that was in work.
TEST(WorkQueue, WhatComesAgainHasAPriority_F10) {
  constexpr Priority kNow = Priority::kNow, kNormal = Priority::kNormal, kLater = Priority::kLater;
  struct Case {
    std::string_view name;
    Priority began;
    std::optional<Priority> meanwhile;
    Millis delay;
    Priority asked, again;
  };
  const Case cases[] = {
      {"what goes on at once keeps its own", kNow, {}, Millis(0), kNormal, kNow},
      {"or gets what is asked for", kLater, {}, Millis(0), kNormal, kNormal},
      {"a delay ends that", kNow, {}, Millis(100), kNormal, kNormal},
      {"a delay of one for later", kNow, {}, Millis(100), kLater, kLater},
      {"an event meanwhile", kNormal, kNow, Millis(100), kNormal, kNow},
      {"an event for later, and it goes on at once", kNow, kLater, Millis(0), kNormal, kNow},
      {"an event for later, before the delay", kNow, kLater, Millis(100), kNormal, kLater},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    FakeClock clock;
    RecordedEvents events;
    WorkQueue queue(clock, kNoJitter, kSeed, &events);
    queue.Add("a", c.began);
    ASSERT_EQ(Take(queue), "a");
    if (c.meanwhile) queue.Add("a", *c.meanwhile);
    queue.AddAfter("a", c.delay, c.asked);
    queue.Done("a");
    clock.Advance(c.delay);
    ASSERT_EQ(Take(queue), "a");
    EXPECT_EQ(events.lines.back(), RecordedEvents::NameOf(c.again) + "0");
    queue.Done("a");
  }
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
