#include "operator/act/install/source_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SourceTurnsTest : public ::testing::Test {
 protected:
  // A look at a provider that needs a turn.
  SourceTurns::Turn Look(const std::string& key) {
    auto turn = turns_.Take(key);
    turns_.PassEnded(key);
    return turn;
  }
  std::vector<std::string> Woken() { return std::exchange(woken_, {}); }

  std::vector<std::string> woken_;
  SourceTurns turns_{2, [this](const std::string& key) { woken_.push_back(key); }};
};

// Waits in vain, and those of others, change nothing of the order; and whoever was woken finds its turn.
TEST_F(SourceTurnsTest, WhoCameFirstIsNext_T13) {
  auto a = Look("a"), b = Look("b");
  ASSERT_TRUE(a && b);
  for (const char* key : {"c", "d", "e", "d", "c"}) EXPECT_FALSE(Look(key)) << key;
  EXPECT_THAT(Woken(), IsEmpty());
  a.reset();
  EXPECT_THAT(Woken(), ElementsAre("c"));
  EXPECT_FALSE(Look("new")) << "it overtakes nobody";
  EXPECT_FALSE(Look("d"));
  b.reset();
  EXPECT_THAT(Woken(), ElementsAre("c", "d"));
  auto d = Look("d"), c = Look("c");
  EXPECT_TRUE(c && d) << "in whichever order they come";
  EXPECT_FALSE(Look("e"));
  auto copy = c;
  c.reset();
  EXPECT_THAT(Woken(), IsEmpty()) << "it is asked still";
  copy.reset();
  d.reset();
  EXPECT_THAT(Woken(), ElementsAre("e", "e", "new"));
}

TEST_F(SourceTurnsTest, OneThatIsFreeIsTheFirstToCome_T13) {
  auto a = Look("a"), b = Look("b");
  EXPECT_FALSE(Look("c"));
  a.reset();
  b.reset();
  EXPECT_THAT(Woken(), ElementsAre("c", "c"));
  EXPECT_TRUE(Look("new")) << "one for it, and one for whoever waits";
}

// A provider that is gone, or held back by something else, would keep all behind it waiting.
TEST_F(SourceTurnsTest, WhoDoesNotComeForItsTurnLosesIt_T13) {
  auto a = Look("a"), b = Look("b");
  for (const char* key : {"c", "d"}) EXPECT_FALSE(Look(key)) << key;
  turns_.PassEnded("x");
  EXPECT_THAT(Woken(), IsEmpty());
  a.reset();
  EXPECT_THAT(Woken(), ElementsAre("c"));
  turns_.PassEnded("c");
  EXPECT_THAT(Woken(), ElementsAre("d"));
  EXPECT_FALSE(Look("c")) << "it is the last now";
  EXPECT_TRUE(Look("d"));
}

// It ended the process.
TEST(SourceTurns, ATurnEndsWhereNobodyCanBeWoken_F7) {
  SourceTurns turns(1, [](const std::string&) { throw std::bad_alloc(); });
  auto a = turns.Take("a");
  EXPECT_FALSE(turns.Take("b"));
  a.reset();
  EXPECT_TRUE(turns.Take("b"));
}

// As many as may ask, and no more, whoever comes when.
TEST(SourceTurns, NoMoreThanMayAskAtOnce_T13) {
  constexpr int kMost = 3;
  SourceTurns turns(kMost, [](const std::string&) {});
  std::atomic<int> asking = 0;
  std::atomic<bool> too_many = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, key = std::to_string(i)] {
      for (int had = 0; had < 100; std::this_thread::yield()) {
        auto turn = turns.Take(key);
        turns.PassEnded(key);
        if (!turn) continue;
        if (asking.fetch_add(1) >= kMost) too_many = true;
        ++had;
        // Long enough for all the others to come, were there no limit.
        for (int i = 0; i < 20; ++i) std::this_thread::yield();
        asking.fetch_sub(1);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(too_many);
  EXPECT_TRUE(turns.Take("last"));
}

}  // namespace
}  // namespace capi::ops
