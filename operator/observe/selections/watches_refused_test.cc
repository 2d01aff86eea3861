// F11: which watch is shared, and what becomes of those on it where the server refuses it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/testing/await.h"
#include "operator/observe/selections/select_testing.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Which watch is shared, by where those are that have their own, and by what is refused (which is said once).
TEST_F(SelectTest, OneOfTheNamespaceThatHasMostElseOfAllIsShared) {
  struct Case {
    std::string_view name;
    bool one_namespace;
    std::vector<std::string> refused;
    std::string shared;  // "" for none
    size_t more, said;
    int refusals;  // of the one of "m": two seconds, but none more where that of all has been waited for so long
  };
  const Case cases[] = {
      {"each has its namespace", false, {}, kAll, 1, 0, 0},
      {"one has them all", true, {}, Of("m"), 1, 0, 0},
      {"of one alone", true, {kAll}, Of("m"), 1, 0, 0},
      {"not of this one", true, {Of("m")}, kAll, 1, 1, 2},
      {"of none", true, {Of("m"), kAll}, "", 3, 1, 2},
      {"of none, and each has its own", false, {Of("m"), kAll}, "", 3, 0, 1},
      {"of one alone, where a second one is there", false, {kAll}, Of("m"), 2, 0, 0},
      {"of all again", false, {}, kAll, 1, 0, 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    for (const std::string& path : {std::string(kAll), Of("m")}) {
      server_.Refuse(path, std::find(c.refused.begin(), c.refused.end(), path) != c.refused.end() ? 403 : 0);
    }
    TakeSaid();
    const int refusals = server_.refusals(Of("m"));
    UseUp(c.one_namespace ? "m" : "");
    for (const char* name : {"x", "y", "z"}) {
      Change("ADDED", Secret("m", name, 60));
      EXPECT_THAT(Select(ByName("m", name), "u"), ElementsAre(std::string(name) + "@60"));
    }
    EXPECT_TRUE(Await([&] { return server_.open() == kAlone + c.more; }));
    for (const std::string& path : {std::string(kAll), Of("m")}) EXPECT_EQ(server_.IsWatched(path), path == c.shared);
    EXPECT_EQ(TakeSaid().size(), c.said);
    EXPECT_EQ(server_.refusals(Of("m")) - refusals, c.refusals);
    Change("MODIFIED", Secret("m", "y", 170));
    EXPECT_TRUE(WasTold("m/y@170 u"));
    for (const char* user : {"u", "alone"}) {
      watches_.BeginUse(user);
      watches_.EndUse(user);
    }
    ASSERT_TRUE(Await([&] { return server_.open() == 0; }));
    for (const char* name : {"x", "y", "z"}) Change("DELETED", Secret("m", name, 180));
    TakeTold();
    clock_.Advance(std::chrono::minutes(10));
  }
}

// A right that is taken away later: by their names they may be watched still. Who doesn't ask by himself is told to,
// and misses no end of anything.
TEST_F(SelectTest, WhoseSharedWatchIsRefusedLaterIsWatchedByName) {
  UseUp();
  for (const char* name : {"a", "b"}) Change("ADDED", Secret("m", name, 1));
  for (const char* user : {"u", "v"}) EXPECT_THAT(Select(ByName("m", "a"), user), ElementsAre("a@1"));
  EXPECT_THAT(Select(ByName("m", "b"), "idle"), ElementsAre("b@1"));
  server_.OnRefusal([this] { clock_.Advance(Seconds(20)); });
  RefuseNow(kAll);
  ASSERT_TRUE(WasTold("m/metadata.name=a is lost u v"));
  ASSERT_TRUE(WasTold("m/metadata.name=b is lost idle"));
  EXPECT_THAT(TakeSaid(), ElementsAre(HasSubstr("secrets")));
  server_.Change(Of("m"), "DELETED", Secret("m", "a", 102));
  for (const char* user : {"u", "v"}) EXPECT_THAT(Select(ByName("m", "a"), user), IsEmpty());
  server_.Change(Of("m"), "ADDED", Secret("m", "a", 103));
  EXPECT_TRUE(WasTold("m/a@103 u v"));
  EXPECT_EQ(server_.open(), size_t{kAlone} + 1);

  // What is named for the first time, at once, and when it is tried again, though somebody hasn't asked anew.
  server_.OnRefusal([this] { clock_.Advance(Seconds(2)); });  // sooner than who waits for it would give up
  server_.Refuse(Of("m"));
  for (const char* name : {"c", "d"}) {
    Change("ADDED", Secret("m", name, 1));
    EXPECT_THAT(Select(ByName("m", name), "new"), ElementsAre(std::string(name) + "@1"));
    server_.Change(Of("m"), "MODIFIED", Secret("m", name, 104));
    EXPECT_TRUE(WasTold(std::string("m/") + name + "@104 new"));
    clock_.Advance(std::chrono::minutes(11));
  }
  EXPECT_EQ(server_.open(), size_t{kAlone} + 3);
}

// What a shared watch asks for may fail where what is named doesn't: a foreign object that can't be read.
TEST_F(SelectTest, WhatTheServerCannotGiveIsNotShared) {
  UseUp();
  server_.Refuse(kAll, 500);
  Change("ADDED", Secret("m", "a", 1));
  EXPECT_THAT(Select(ByName("m", "a"), "u"), ElementsAre("a@1"));
  EXPECT_EQ(server_.open(), size_t{kAlone} + 1);
  EXPECT_EQ(TakeSaid().size(), 1u);
}

// An API server that starts may refuse what it allows a moment later.
TEST_F(SelectTest, ARefusalThatPassesChangesNothing) {
  UseUp();
  server_.OnRefusal([this] { server_.Refuse(kAll, 0); });
  server_.Refuse(kAll);
  for (const char* name : {"a", "b"}) {
    Change("ADDED", Secret("m", name, 1));
    EXPECT_THAT(Select(ByName("m", name), "u"), ElementsAre(std::string(name) + "@1"));
  }
  TakeTold();
  RefuseNow(kAll);
  ASSERT_TRUE(Await([&] { return server_.watched(kAll) == 2 && server_.IsWatched(kAll); }));
  Change("MODIFIED", Secret("m", "a", 101));
  EXPECT_TRUE(WasTold("m/a@101 u"));
  EXPECT_THAT(TakeTold(), ElementsAre("m/a@101 u"));
  EXPECT_EQ(server_.open(), size_t{kAlone} + 1);
  EXPECT_THAT(TakeSaid(), IsEmpty());
}

// Once it goes well again, they share a watch as they are looked at, and the first few stay as they are.
TEST_F(SelectTest, AWatchIsSharedAgainOnceItIsAllowed) {
  UseUp();
  server_.Refuse(kAll);
  for (const char* ns : {"m", "n", "o"}) {
    Change("ADDED", Secret(ns, "a", 1));
    EXPECT_THAT(Select(ByName(ns, "a"), "u"), ElementsAre("a@1"));
  }
  EXPECT_THAT(Select(ByName("m", "a"), "other"), ElementsAre("a@1"));
  EXPECT_EQ(server_.open(), size_t{kAlone} + 3);
  TakeTold();
  auto by_tries = [&](const std::function<bool()>& done) {
    return Await([&] {
      clock_.Advance(std::chrono::minutes(11));
      auto look = [&] {
        EXPECT_THAT(Select(ByName("m", "a"), "u"), ElementsAre("a@1"));
        return done();
      };
      return Await(look, Seconds(1));
    });
  };
  // A try ends with its second refusal: with a third one, there is another try.
  const int refusals = server_.refusals(kAll);
  ASSERT_TRUE(by_tries([&] { return server_.refusals(kAll) > refusals + 2; }));
  EXPECT_THAT(TakeTold(), IsEmpty()) << "a try that fails takes nothing from anybody";
  EXPECT_EQ(server_.open(), size_t{kAlone} + 3);
  server_.Refuse(kAll, 0);
  ASSERT_TRUE(by_tries([&] {
    MutexLock lock(mu_);
    return !told_.empty();
  }));
  for (const char* ns : {"m", "n", "o"}) EXPECT_THAT(Select(ByName(ns, "a"), "u"), ElementsAre("a@1"));
  EXPECT_THAT(TakeTold(), ElementsAre("m/metadata.name=a is lost other"));
  EXPECT_TRUE(Await([&] { return server_.open() == size_t{kAlone} + 1; }));
  EXPECT_THAT(Select(ByName("m", "a"), "other"), ElementsAre("a@1"));
  Change("MODIFIED", Secret("m", "a", 102));
  EXPECT_TRUE(WasTold("m/a@102 other u"));
  for (int i = 0; i < kAlone; ++i) {
    EXPECT_EQ(Select(ByName("alone" + std::to_string(i), "s" + std::to_string(i)), "alone").size(), 1u);
  }
  EXPECT_EQ(server_.open(), size_t{kAlone} + 1);
}

// Those that it was made for may have gone before any of them was looked at again: the few that are left have theirs.
TEST_F(SelectTest, AWatchThatNobodyHasMovedToEnds) {
  UseUp();
  server_.Refuse(kAll);
  Change("ADDED", Secret("m", "a", 1));
  EXPECT_THAT(Select(ByName("m", "a"), "u"), ElementsAre("a@1"));
  server_.Refuse(kAll, 0);
  clock_.Advance(std::chrono::minutes(11));
  EXPECT_THAT(Select(ByName("m", "a"), "u"), ElementsAre("a@1"));
  ASSERT_TRUE(Await([&] { return server_.IsWatched(kAll); }));
  watches_.BeginUse("u");
  watches_.EndUse("u");
  EXPECT_TRUE(Await([&] { return server_.open() == kAlone; }));
  EXPECT_FALSE(server_.IsWatched(kAll));
  EXPECT_THAT(Select(ByName("m", "a"), "u"), ElementsAre("a@1"));
  EXPECT_EQ(server_.watched(kAll), 2) << "for who is one too many, it begins anew";
}

// What is told of the end of a shared watch needs who is told: its thread was the last to hold it, and joined itself.
TEST_F(SelectTest, AStopWaitsForWhatIsTold) {
  std::promise<void> lost, go_on;
  std::atomic<bool> telling = false;
  Watches watches{*server_.client, [&](const Watches::Event& event) {
                    if (event.was || event.is) return;
                    telling = true;
                    lost.set_value();
                    go_on.get_future().wait();
                    telling = false;
                  }};
  for (int i = 0; i <= kAlone; ++i) {
    const std::string ns = "n" + std::to_string(i);
    server_.Has(Of(ns), {});
    ASSERT_TRUE(watches.Select(ctx_, ByName(ns, "a"), "u").ok());
  }
  server_.OnRefusal([this] { clock_.Advance(Seconds(20)); });
  RefuseNow(kAll);
  lost.get_future().wait();
  std::jthread stopping([&] {
    watches.Stop();
    EXPECT_FALSE(telling);
  });
  EXPECT_TRUE(Await([&] { return server_.open() == 0; }));
  go_on.set_value();
}

}  // namespace
}  // namespace capi::ops
