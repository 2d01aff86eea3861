// Who comes first (behaviour.md F10).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "kube/runtime/work_queue.h"
#include "kube/runtime/work_queue_testing.h"

namespace capi::kube {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

constexpr Priority kNow = Priority::kNow, kNormal = Priority::kNormal, kLater = Priority::kLater;

// What happens to a queue: a key is added with a priority, or time goes by.
struct Act {
  std::string key;
  Priority priority = Priority::kNormal;
  Seconds passes{0};
};

// F10.
TEST(WorkQueuePriority, HigherPrioritiesComeFirst_F10) {
  struct Case {
    std::string_view name;
    std::vector<Act> acts;
    std::vector<std::string> order;
  };
  const Case cases[] = {
      {"the highest first", {{"l", kLater}, {"m", kNormal}, {"n", kNow}}, {"n", "m", "l"}},
      {"of one priority as they came", {{"c", kNow}, {"a", kNow}, {"b", kNow}}, {"c", "a", "b"}},
      {"it moves up", {{"a", kLater}, {"b", kLater}, {"c", kNormal}, {"b", kNow}}, {"b", "c", "a"}},
      {"by one", {{"a", kLater}, {"b", kLater}, {"c", kNow}, {"b", kNormal}}, {"c", "b", "a"}},
      {"before whom was asked for after it", {{"a", kLater}, {"b", kNow}, {"a", kNow}}, {"a", "b"}},
      {"after whom was asked for before it", {{"a", kNow}, {"b", kLater}, {"c", kNow}, {"b", kNow}}, {"a", "b", "c"}},
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
TEST(WorkQueuePriority, WhoIsOverdueGetsATurn_F10) {
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
      {"also where others wait there that were asked for after it",
       {{"l", kLater}, just_not, {"m1", kNormal}, {"m2", kNormal}, {"l", kNormal}, second, n1, n2, n3, n4, n5},
       {"n1", "n2", "n3", "l", "n4", "n5", "m1", "m2"}},
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
TEST(WorkQueuePriority, NobodyStarves_F10) {
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
TEST(WorkQueuePriority, WhatComesAgainHasAPriority_F10) {
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
      {"an event for later, before the delay", kNow, kLater, Millis(100), kNormal, kNormal},
      {"an event for later, before one that is", kNow, kLater, Millis(100), kLater, kLater},
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

// F5, F10: who is to come at a time comes then with the priority of that, whatever has asked for him with a lower one.
TEST(WorkQueuePriority, AnEventForLaterLeavesATimeAsItWas_F10) {
  struct Case {
    std::string_view name;
    Priority event;
    bool in_work;  // the event comes, and the pass then names the time
    Millis passes;
    std::vector<std::string> order;
  };
  const Case cases[] = {
      {"its time has come", kLater, false, Millis(100), {"a", "other"}},
      {"not yet", kLater, false, Millis(99), {"other", "a"}},
      {"its time has come, and the event was first", kLater, true, Millis(100), {"a", "other"}},
      {"not yet, and the event was first", kLater, true, Millis(99), {"other", "a"}},
      {"an event of the same priority supersedes it", kNormal, false, Millis(0), {"a", "other"}},
      {"also where the event was first", kNormal, true, Millis(0), {"a", "other"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    FakeClock clock;
    WorkQueue queue(clock, kNoJitter, kSeed);
    queue.Add("other", kLater);
    if (c.in_work) {
      queue.Add("a", kNow);
      ASSERT_EQ(Take(queue), "a");
      queue.Add("a", c.event);
    }
    queue.AddAfter("a", Millis(100), kNormal);
    if (c.in_work) {
      queue.Done("a");
    } else {
      queue.Add("a", c.event);
    }
    clock.Advance(c.passes);
    EXPECT_EQ(Drain(queue), c.order);
    clock.Advance(Millis(100));
    queue.Add("end", kLater);
    EXPECT_EQ(Drain(queue), std::vector<std::string>{"end"}) << "the pass has superseded the time";
  }
}

// F10: nobody works in a standby, and what has come to it is as old as what was there when it began.
TEST(WorkQueuePriority, WhatWaitsWhenTheWorkBeginsIsForLater_F10) {
  FakeClock clock;
  RecordedEvents events;
  WorkQueue queue(clock, kNoJitter, kSeed, &events);
  queue.Add("n", kNow);
  queue.Add("l", kLater);
  queue.Add("m", kNormal);
  clock.Advance(Seconds(3600));
  queue.BeginWork();
  EXPECT_THAT(events.lines, IsSupersetOf({"now: 0", "normal: 0", "later: 3"}));
  for (const char* edit : {"e1", "e2", "e3", "e4", "e5"}) queue.Add(edit, kNow);
  queue.Add("m", kNow);
  const std::vector<std::string> order = {"m", "e1", "e2", "e3", "e4", "e5", "n", "l"};
  EXPECT_EQ(Drain(queue), order) << "nobody is overdue";
  EXPECT_THAT(events.lines, Each(Not(HasSubstr("waited 3600"))));
}

}  // namespace
}  // namespace capi::kube
